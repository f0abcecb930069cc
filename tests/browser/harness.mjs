// Starts the real server with the scripted model, and a Chromium that looks at it. One world per test:
// its own folders, its own server, its own browser profile.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { chromium } from 'playwright-core';

const here = import.meta.dirname;
const root = resolve(here, '../..');
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
export const bin = (name) => join(process.env.WEFT_BIN_DIR ?? join(target, 'debug'), name);
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
export const SHOTS = join(here, 'screenshots');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser;
const shared = async () => (browser ??= await chromium.launch({ executablePath: CHROMIUM, args: FLAGS }));
export const closeBrowser = async () => {
  await browser?.close();
  browser = undefined;
};

/** Resolves with the first line that fits; rejects when the program ends before. */
function firstLine(child, fits) {
  return new Promise((done, fail) => {
    let text = '';
    let errors = '';
    child.stderr.on('data', (data) => (errors += data));
    child.stdout.on('data', (data) => {
      text += data;
      const line = text.split('\n').find((one) => fits.test(one));
      if (line) done(line);
    });
    child.on('exit', (code) => fail(new Error(`ended with ${code} before it was ready: ${errors}${text}`)));
  });
}

const ended = (child) => new Promise((done) => (child.exitCode !== null || child.signalCode !== null ? done() : child.once('exit', done)));

export class World {
  static async start({ script = 'story.json', key = true, mode = 'ask', files = {}, model = null, wants = null } = {}) {
    const world = new World();
    world.folder = mkdtempSync(join(tmpdir(), 'weft-browser-'));
    world.home = join(world.folder, 'home');
    world.workspace = join(world.folder, 'project');
    mkdirSync(world.home);
    mkdirSync(world.workspace);
    writeFileSync(join(world.home, 'config.toml'), `mode = "${mode}"\n`);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(world.workspace, name)), { recursive: true });
      writeFileSync(join(world.workspace, name), text);
    }
    world.env = { PATH: process.env.PATH, HOME: world.folder, WEFT_HOME: world.home, LANG: 'C.UTF-8' };
    if (model) Object.assign(world.env, { ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'scripted', WEFT_MODEL: 'anthropic/claude-sonnet-4-5' });
    else if (key) {
      // With `wants` the model's server lets in only who has that key, and nobody has it yet.
      world.model = spawn(bin('weft-script'), ['--script', resolve(here, script), ...(wants ? ['--key', wants] : [])], { stdio: ['ignore', 'pipe', 'pipe'] });
      const line = await firstLine(world.model, /listening on/);
      Object.assign(world.env, { ANTHROPIC_BASE_URL: `http://${line.split(' ').pop()}/v1`, ...(wants ? {} : { ANTHROPIC_API_KEY: 'scripted' }), WEFT_MODEL: 'anthropic/claude-sonnet-4-5' });
    }
    await world.serve();
    return world;
  }

  async serve() {
    // The page as the binary has it; `WEFT_ASSETS=web/dist` tries one that is not built in yet.
    const assets = process.env.WEFT_ASSETS ? ['--assets', resolve(root, process.env.WEFT_ASSETS)] : [];
    this.server = spawn(bin('weft'), ['serve', '--addr', `127.0.0.1:${this.port ?? 0}`, ...assets], { cwd: this.workspace, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.url = await firstLine(this.server, /^https?:/);
    this.port = new URL(this.url).port;
    this.origin = new URL(this.url).origin;
  }

  /** As if the machine lost power: no chance to tidy up. */
  async kill() {
    this.server.kill('SIGKILL');
    await ended(this.server);
  }

  async page(options = {}) {
    const context = await (await shared()).newContext({ viewport: { width: 1360, height: 860 }, reducedMotion: 'reduce', ...options });
    this.contexts = [...(this.contexts ?? []), context];
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    this.watch(page);
    await page.goto(this.url);
    // The token becomes a cookie, and the page goes on without it.
    await page.waitForURL((url) => !url.searchParams.has('token'));
    return page;
  }

  /** Whatever the page complains about, and every request that would leave the machine, is kept. */
  watch(page) {
    this.complaints ??= [];
    this.outside ??= [];
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !/Failed to load resource|ERR_|net::/.test(text)) this.complaints.push(text);
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(this.origin) && !/^(data|blob):/.test(url)) this.outside.push(url);
    });
  }

  async api(path, options = {}) {
    const token = new URL(this.url).searchParams.get('token');
    // Browsers lead the server's own name to this machine; Node does not everywhere.
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1/${path}`, { ...options, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...options.headers } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  }

  async stop() {
    for (const context of this.contexts ?? []) await context.close();
    for (const child of [this.server, this.model]) {
      if (!child) continue;
      child.kill('SIGTERM');
      await Promise.race([ended(child), new Promise((done) => setTimeout(done, 4000))]);
      child.kill('SIGKILL');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const FILES = { 'a.txt': 'alpha\n', 'b.txt': 'beta\n' };

/** Runs a test in a world of its own, and sees to it that the page neither complained nor reached outside. */
export function inWorld(name, options, run) {
  test(name, { timeout: 90_000 }, async () => {
    const world = await World.start({ files: FILES, ...options });
    try {
      await run(world);
      assert.deepEqual(world.complaints ?? [], [], 'the page complained');
      assert.deepEqual(world.outside ?? [], [], 'a request would have left the machine');
    } catch (error) {
      // What it looked like when it went wrong.
      const pages = (world.contexts ?? []).flatMap((context) => context.pages());
      mkdirSync(SHOTS, { recursive: true });
      for (const [index, page] of pages.entries()) await page.screenshot({ path: join(SHOTS, `failed-test-${index}-${name.replaceAll(/\W+/g, '-').slice(0, 40)}.png`) }).catch(() => {});
      throw error;
    } finally {
      await world.stop();
    }
  });
}
export const text = (page, words) => page.getByText(words).first().waitFor();
export const count = (page, selector) => page.locator(selector).count();

export async function say(page, text) {
  const box = page.locator('[data-composer]');
  await box.fill(text);
  await box.press('Enter');
}

export const idle = (page) => page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' });

/** Takes the same picture in light and dark, and where wanted at the size of a phone. */
export async function shoot(page, name, { phone = false } = {}) {
  mkdirSync(SHOTS, { recursive: true });
  if (phone) {
    const size = page.viewportSize();
    await page.setViewportSize({ width: 390, height: 780 });
    await page.waitForTimeout(200);
    await page.screenshot({ path: join(SHOTS, `${name}-phone.png`) });
    await page.setViewportSize(size);
    await page.waitForTimeout(200);
  }
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.waitForTimeout(150);
    await page.screenshot({ path: join(SHOTS, `${name}-${scheme}.png`) });
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
}

/** What axe finds that keeps people out. */
export async function barriers(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }));
  return found.violations
    .filter((violation) => ['serious', 'critical'].includes(violation.impact))
    .map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.target.join(' ')} (${node.failureSummary?.split('\n')[1]?.trim()})`).slice(0, 3).join('; ')}`);
}
