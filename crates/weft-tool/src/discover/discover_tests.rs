#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::*;

#[test]
fn the_table_can_be_read_and_used() {
    assert!(table::BUILT_IN.len() > 60);
    for row in table::BUILT_IN.iter() {
        row.check().unwrap();
        for name in row.config.iter().filter_map(|name| name.split_once('#')) {
            let known = ["package.json", "pyproject.toml", "Cargo.toml", "setup.cfg", "tox.ini"];
            assert!(known.contains(&name.0), "{}: nobody reads {}", row.id, name.0);
        }
    }
}

/// The best of each kind in a folder with these files, installed or not: kind, command, confidence.
fn best(files: &[(&str, &str)], kind: Kind) -> Option<(String, Confidence)> {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let root = dir.path().canonicalize().unwrap();
    let discovery = Discovery::default();
    let mut found = discovery.look(&root, &[]).0;
    found.retain(|found| found.kind == kind && !found.command.is_empty());
    found.sort_by_key(|found| std::cmp::Reverse(found.confidence));
    found.first().map(|found| (found.command.clone(), found.confidence))
}

#[test]
fn what_a_project_shows() {
    use Confidence::{High, Low, Medium};
    use Kind::{Build, Format, Lint, Test, Types};
    type Files = [(&'static str, &'static str)];
    let cases: &[(&Files, Kind, &str, Confidence)] = &[
        (&[("Cargo.toml", "")], Test, "cargo test", Low),
        (&[("Cargo.toml", ""), (".config/nextest.toml", "")], Test, "cargo nextest run", High),
        (
            &[("Cargo.toml", "[workspace.lints.clippy]\nunwrap_used = \"deny\"")],
            Lint,
            "cargo clippy --all-targets",
            High,
        ),
        (&[("Cargo.toml", ""), ("Makefile", "test: lint\n\tcargo test\n")], Test, "make test", High),
        (&[("Makefile", "test := x\ntest-all:\n"), ("go.mod", "")], Test, "go test ./...", Low),
        (&[("justfile", "test *args:\n  go test\n"), ("go.mod", "")], Test, "just test", High),
        (&[("go.mod", ""), (".golangci.yml", "")], Lint, "golangci-lint run", High),
        (&[("pyproject.toml", "[tool.ruff]\nline-length = 100")], Format, "ruff format .", High),
        (&[("pyproject.toml", "[project]\ndependencies = [\"black>=24\"]")], Format, "black .", Medium),
        (&[("pyproject.toml", "[dependency-groups]\ndev = [\"pytest\"]")], Test, "pytest", Medium),
        (&[("pyproject.toml", "[tool.poetry.group.dev.dependencies]\nmypy = \"1\"")], Types, "mypy .", Medium),
        (&[("requirements-dev.txt", "Flake8==6\n")], Lint, "flake8", Medium),
        (&[("setup.cfg", "[metadata]\n[tool:other]\n")], Test, "pytest", Low),
        (&[("package.json", "{\"devDependencies\":{\"jest\":\"29\"}}")], Test, "npx jest", Medium),
        (
            &[("vitest.config.ts", ""), ("package.json", "{\"devDependencies\":{\"jest\":\"29\"}}")],
            Test,
            "npx vitest run",
            High,
        ),
        (&[("package.json", "{\"devDependencies\":{\"eslint\":\"9\"}}")], Lint, "npx eslint .", Medium),
        (&[("App.csproj", "<Project/>")], Test, "dotnet test", Low),
        (&[("main.tf", "")], Format, "terraform fmt -recursive", Low),
        (&[("composer.json", "{}")], Lint, "vendor/bin/phpstan analyse", Low),
        (&[("setup.cfg", "[tool:pytest]\n")], Test, "pytest", High),
        (&[("setup.py", ""), (".venv/bin/pytest", "")], Test, ".venv/bin/pytest", Low),
        (
            &[("package.json", "{\"devDependencies\":{\"jest\":\"29\",\"vitest\":\"1\"}}")],
            Test,
            "npx vitest run",
            Medium,
        ),
        (&[("package.json", "{\"jest\":{}}"), ("pnpm-lock.yaml", "")], Test, "pnpm exec jest", High),
        (&[("package.json", "{\"scripts\":{\"test\":\"x\"}}"), ("yarn.lock", "")], Test, "yarn run test", High),
        (
            &[("package.json", "{\"scripts\":{\"test\":\"echo \\\"Error: no test specified\\\"\"}}")],
            Test,
            "node --test",
            Low,
        ),
        (&[("package.json", "{}"), ("tsconfig.json", "{}")], Types, "npx tsc --noEmit", High),
        (
            &[("package.json", "{}"), ("biome.json", ""), (".prettierrc", "")],
            Format,
            "npx biome format --write .",
            High,
        ),
        (&[("Gemfile", "gem 'rspec', '~> 3'\n")], Test, "bundle exec rspec", Medium),
        (&[("pom.xml", ""), ("mvnw", "")], Build, "./mvnw package", High),
        (&[("mix.exs", "")], Test, "mix test", Low),
        (&[("web/package.json", "{\"scripts\":{\"build\":\"vite\"}}")], Build, "cd web && npm run build", High),
        (&[("package.json", "not json"), ("pyproject.toml", "[broken"), ("go.mod", "")], Test, "go test ./...", Low),
    ];
    for (files, kind, command, confidence) in cases {
        assert_eq!(best(files, *kind), Some(((*command).to_owned(), *confidence)), "{files:?}");
    }
    assert_eq!(best(&[("notes.txt", "")], Test), None);
}

/// What can be run comes before what would be better.
#[test]
fn of_two_the_better_one_that_is_installed_is_chosen() {
    let chosen = |programs: &[&str]| {
        let (dir, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(dir.path().join("pyproject.toml"), "[tool.ruff]\nline-length = 100\n").unwrap();
        programs.iter().for_each(|program| std::fs::write(path.path().join(program), "").unwrap());
        let root = dir.path().canonicalize().unwrap();
        let (found, _) = Discovery::default().look(&root, &[path.path().to_owned()]);
        found.into_iter().find(|found| found.kind == Kind::Format).unwrap().name
    };
    assert_eq!(chosen(&["ruff", "black"]), "ruff format");
    assert_eq!(chosen(&["black"]), "black");
    assert_eq!(chosen(&[]), "ruff format");
}

#[test]
fn what_a_person_adds_comes_first() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("Cargo.toml"), "").unwrap();
    let row: Row = toml::from_str("id = \"mine\"\nkind = \"test\"\nlanguage = \"any\"\nrun = \"./t\"").unwrap();
    let found = Discovery::new(vec![row]).find(dir.path(), false);
    assert_eq!((found[0].command.as_str(), found[0].confidence), ("./t", Confidence::High));
}

#[test]
fn it_is_found_anew_only_when_files_change() {
    let dir = tempfile::tempdir().unwrap();
    let discovery = Discovery::default();
    std::fs::write(dir.path().join("Cargo.toml"), "").unwrap();
    let first = discovery.find(dir.path(), false);
    assert!(Arc::ptr_eq(&first, &discovery.find(dir.path(), false)));
    assert!(!Arc::ptr_eq(&first, &discovery.find(dir.path(), true)));
    let second = discovery.find(dir.path(), false);
    std::fs::write(dir.path().join("Cargo.toml"), "[lints.clippy]\n").unwrap();
    let third = discovery.find(dir.path(), false);
    assert!(!Arc::ptr_eq(&second, &third));
    std::fs::create_dir(dir.path().join(".config")).unwrap();
    assert!(!Arc::ptr_eq(&third, &discovery.find(dir.path(), false)));
}

/// A link out of the workspace, a pipe and a device are no manifests, and nobody hangs on them.
#[test]
fn odd_files_are_not_read() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret = outside.path().join("package.json");
    std::fs::write(&secret, "{\"scripts\":{\"test\":\"x\"}}").unwrap();
    std::os::unix::fs::symlink(&secret, dir.path().join("package.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("pyproject.toml")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dir.path().join("Makefile"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let found = Discovery::default().find(dir.path(), false);
    assert!(
        found.iter().all(|found| !found.command.contains("run test") && !found.command.contains("make")),
        "{found:?}"
    );
}

/// A folder can hold any number of files that look like lists.
#[test]
fn no_more_is_read_than_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for number in 0..100 {
        std::fs::write(root.join(format!("requirements-{number:03}.txt")), format!("package-{number}\n")).unwrap();
    }
    let facts = Facts::of(&root, &root, &Budget::default());
    assert!(facts.depends_on("package-0").is_some() && facts.depends_on("package-99").is_none());
    assert!(facts.looked_at.len() < 50, "{}", facts.looked_at.len());
    let few = Facts::of(&root, &root, &Budget::new(2, 1 << 20));
    assert!(few.depends_on("package-1").is_some() && few.depends_on("package-2").is_none());
    let small = Facts::of(&root, &root, &Budget::new(100, 20));
    assert!(small.depends_on("package-1").is_some() && small.depends_on("package-2").is_none());
}
