// Where one is: titles, addresses, the way back; which model answers; forks from earlier words; pictures; very many sessions.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bin, closeBrowser, FILES, idle, inWorld, say, shoot, text, World } from './harness.mjs';

after(closeBrowser);
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGPQqDiBFTEMLQkAAtVaAcSRe60AAAAASUVORK5CYII=', 'base64');
const titled = (page, title) => page.waitForFunction((wanted) => document.title === wanted, title);

inWorld('a picture that a tool gave is seen where the tool ran', { files: { ...FILES, 'dot.png': PICTURE } }, async (world) => {
  const page = await world.page();
  await say(page, 'Please look at the picture.');
  await text(page, 'A small dot.');
  const picture = page.locator('.pictures img').first();
  await picture.waitFor();
  assert.ok(await picture.evaluate(async (image) => { await image.decode(); return image.naturalWidth === 8; }), 'it is drawn');
  assert.match(await picture.getAttribute('src'), /^data:image\/png;base64,/);
  await shoot(page, 'picture');
  await page.reload();
  await picture.waitFor();
});

inWorld('another model is chosen, answers, and stays chosen', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  await idle(page);
  await page.getByRole('button', { name: /^Model: / }).click();
  const other = page.getByRole('menuitem', { name: /claude-opus/ }).first();
  const name = (await other.innerText()).split('\n')[0].trim();
  await shoot(page, 'models');
  await other.click();
  await page.getByRole('button', { name: `Model: anthropic/${name}` }).waitFor();
  await say(page, 'hello again');
  await page.locator('.row-end').nth(1).waitFor();
  const id = new URL(page.url()).pathname.split('/').pop();
  const { events } = await world.api(`sessions/${id}/log?limit=500`);
  const asked = events.filter((event) => event.type === 'round_started').map((event) => event.model);
  assert.deepEqual(asked, ['anthropic/claude-sonnet-4-5', `anthropic/${name}`]);
  await page.reload();
  await page.getByRole('button', { name: `Model: anthropic/${name}` }).waitFor();
});

inWorld('a fork from an earlier message has what was before it and nothing after', {}, async (world) => {
  const page = await world.page();
  for (const [index, words] of ['first words', 'second words', 'third words'].entries()) {
    await say(page, words);
    await page.locator('.row-end').nth(index).waitFor();
  }
  const first = page.url();
  await page.locator('.said').nth(1).hover();
  await page.getByRole('button', { name: 'Fork from here' }).nth(1).click();
  await page.waitForURL((url) => url.href !== first && url.pathname.startsWith('/s/'));
  await page.waitForFunction(() => document.querySelectorAll('.said-words').length === 1);
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['first words']);
  await say(page, 'another way');
  await page.locator('.row-end').nth(1).waitFor();
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['first words', 'another way']);
  await page.goto(first);
  await page.waitForFunction(() => document.querySelectorAll('.said-words').length === 3);
});

inWorld('a fork after a turn has that turn and nothing that was said later, and leads back', {}, async (world) => {
  const page = await world.page();
  for (const [index, words] of ['first words', 'second words'].entries()) {
    await say(page, words);
    await page.locator('.row-end').nth(index).waitFor();
  }
  const first = page.url();
  await page.locator('.row-end').first().hover();
  await page.getByRole('button', { name: 'Fork after this turn' }).first().click();
  await page.waitForURL((url) => url.href !== first && url.pathname.startsWith('/s/'));
  await page.locator('.row-end').waitFor();
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['first words']);
  const { queue } = await world.api(`sessions/${new URL(page.url()).pathname.split('/').pop()}`);
  assert.deepEqual(queue, [], 'what was said next waits in the fork');
  await say(page, 'another way');
  await page.locator('.row-end').nth(1).waitFor();
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['first words', 'another way']);
  await page.locator('.session-header').getByRole('link', { name: 'Fork' }).click();
  await page.waitForURL((url) => url.pathname === new URL(first).pathname);
  await page.waitForFunction(() => document.querySelectorAll('.said-words').length === 2);
});

inWorld('every place has a title and an address, and the way back leads where one was', {}, async (world) => {
  const page = await world.page();
  await titled(page, 'New session · Weft');
  await say(page, 'hello deep link');
  await text(page, 'Hello from the script.');
  await idle(page);
  const session = new URL(page.url()).pathname;
  await world.api(`sessions/${session.split('/').pop()}`, { method: 'PATCH', body: JSON.stringify({ title: 'A named place' }) });
  await titled(page, 'A named place · Weft');
  const trail = [];
  const goes = async (path, title) => {
    await titled(page, title);
    assert.equal(new URL(page.url()).pathname, path);
    trail.push([page.url(), title]);
  };
  await goes(session, 'A named place · Weft');
  const rail = page.locator('.rail');
  await rail.getByRole('link', { name: 'Settings' }).click();
  await goes('/settings/models', 'Models and keys · Settings · Weft');
  await page.locator('.settings-nav').getByRole('link', { name: 'Themes' }).click();
  await goes('/settings/themes', 'Themes · Settings · Weft');
  await rail.getByRole('link', { name: 'Research' }).click();
  await goes('/research', 'Research · Weft');
  await rail.getByRole('link', { name: 'Knowledge' }).click();
  await goes('/knowledge', 'Knowledge · Weft');
  await page.goto(`${world.origin}/waiting`);
  await goes('/waiting', 'Waiting · Weft');
  // Back, step by step, and forward again.
  for (const [url, title] of trail.slice(0, -1).reverse()) {
    await page.goBack();
    await titled(page, title);
    assert.equal(page.url(), url);
  }
  await text(page, 'Hello from the script.');
  await page.goForward();
  await titled(page, 'Models and keys · Settings · Weft');
  // Each address alone leads to the same place, in a browser that has seen nothing else.
  const other = await world.page();
  for (const [url, title] of trail) {
    await other.goto(url);
    await titled(other, title);
  }
  // A hit of the search leads to the very message, also from outside.
  await other.getByLabel('Search all sessions').fill('deep link');
  await other.locator('.hit').first().click();
  await other.waitForURL(/\/s\/.*at=\d+/);
  await page.goto(other.url());
  await page.locator('.said-words', { hasText: 'hello deep link' }).waitFor();
});

inWorld('a session that waits says so in its title', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please ask me.');
  await page.getByRole('button', { name: 'Green' }).waitFor();
  await page.waitForFunction(() => document.title.startsWith('● '));
  await page.getByRole('button', { name: 'Green' }).click();
  await text(page, 'Noted.');
  await page.waitForFunction(() => !document.title.startsWith('● '));
});

/** Sessions as `weft sessions export` writes them, taken in with one command: real rows of a real database. */
function manySessions(world, number) {
  const folder = join(world.folder, 'many');
  mkdirSync(folder);
  const begun = Date.now() - number * 60_000;
  const model = 'anthropic/claude-sonnet-4-5';
  for (let index = 0; index < number; index += 1) {
    const id = String(index).padStart(12, '0');
    let seq = 0;
    const add = (event) => JSON.stringify({ session: id, seq: (seq += 1), at: begun + index * 60_000 + seq, ...event });
    const lines = [
      JSON.stringify({ weft: 'session', version: 1, id }),
      add({ type: 'session_started', workspace: world.workspace, agent: 'weft', model, mode: 'ask', limits: {} }),
      add({ type: 'input_received', input: '000000000001', content: [{ type: 'text', text: `Question number ${index}` }], delivery: 'follow_up' }),
      add({ type: 'turn_started', turn: 1, inputs: ['000000000001'] }),
      add({ type: 'round_started', round: 1, attempt: 1, model }),
      add({ type: 'round_answered', parts: [{ type: 'text', text: `Answer number ${index}.` }], stop: 'end', spent: { model, usage: { input: 100, output: 10 }, cost: 1000 + index, millis: 5 }, plan: [] }),
      add({ type: 'turn_ended', turn: 1, reason: { reason: 'completed' } }),
    ];
    writeFileSync(join(folder, `${id}.jsonl`), lines.join('\n'));
  }
  const imported = spawnSync('sh', ['-c', `"$0" sessions import *.jsonl`, bin('weft')], { cwd: folder, env: world.env, encoding: 'utf8', maxBuffer: 64 << 20 });
  assert.equal(imported.status, 0, imported.stderr.slice(-2_000));
}

/** How long the page's own thread worked on one task without a pause; not how long it waited for a core. */
function longestTask(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const pages = new Set(traceEvents.filter((event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain').map((event) => `${event.pid} ${event.tid}`));
  const tasks = traceEvents.filter((event) => event.name === 'ThreadControllerImpl::RunTask' && pages.has(`${event.pid} ${event.tid}`) && event.tdur !== undefined);
  assert.ok(tasks.length > 1_000, `only ${tasks.length} tasks were seen`);
  return tasks.reduce((most, event) => Math.max(most, event.tdur), 0) / 1000;
}

const MANY = 10_000;
test(`${MANY} sessions scroll smoothly`, { timeout: 400_000 }, async () => {
  const world = await World.start({});
  try {
    const taken = performance.now();
    manySessions(world, MANY);
    console.log(`taken in after ${Math.round(performance.now() - taken)} ms`);
    const page = await world.page();
    const first = page.locator('.list .entry-link').first();
    await first.waitFor();
    assert.match(await first.innerText(), new RegExp(`Question number ${MANY - 1}`));
    const { counts } = await world.api('sessions?limit=1');
    assert.equal(counts.total, MANY);
    const tab = await page.context().newCDPSession(page);
    await tab.send('Performance.enable', { timeDomain: 'threadTicks' });
    const worked = async () => (await tab.send('Performance.getMetrics')).metrics.find((metric) => metric.name === 'TaskDuration').value * 1000;
    const before = await worked();
    await page.context().browser().startTracing(page, { categories: ['toplevel'] });
    const found = await page.evaluate(async () => {
      const long = [];
      const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => Math.round(entry.duration))));
      observer.observe({ entryTypes: ['longtask'] });
      const scroller = document.querySelector('.list .scroll');
      const frames = [];
      const seen = new Set();
      const start = performance.now();
      let last = start;
      // Down to the very first, as fast as pages of it come.
      while (!seen.has('Question number 0') && performance.now() - start < 120_000) {
        scroller.scrollTop += 900;
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        frames.push(now - last);
        last = now;
        for (const name of document.querySelectorAll('.list .entry-link .cut:first-child')) if (name.textContent.startsWith('Question')) seen.add(name.textContent);
      }
      frames.sort((a, b) => a - b);
      observer.disconnect();
      return { seen: seen.size, height: scroller.scrollHeight, frames: frames.length, median: frames[Math.floor(frames.length / 2)], p95: frames[Math.floor(frames.length * 0.95)], long, rows: document.querySelectorAll('.list .entry').length, seconds: (performance.now() - start) / 1000 };
    });
    const work = ((await worked()) - before) / found.frames;
    const longest = longestTask(await page.context().browser().stopTracing());
    console.log(`${MANY} sessions: ${work.toFixed(1)} ms of work for a frame, ${longest.toFixed(1)} ms for the longest task; ${JSON.stringify(found)}`);
    assert.ok(found.height >= MANY * 0.99 * 52, 'not all sessions were loaded');
    // At this pace every row passes through the window.
    assert.ok(found.seen > MANY * 0.95, `${found.seen} rows were drawn on the way`);
    assert.ok(found.rows < 60, `${found.rows} rows are in the page`);
    // Fifteen rows are new in every frame, far more than anybody scrolls. Time is another matter than work: where others want the cores too, the browser waits for
    // its turn, so that bounds of time are as much wider as there are more who want a core than there are cores.
    assert.ok(work < 30, `a frame takes ${work} ms of work`);
    assert.ok(longest < 50, `a task takes ${longest} ms of work`);
    const busy = Math.max(1, loadavg()[0] / cpus().length);
    assert.ok(found.p95 < 60 * busy, `one frame in twenty takes ${found.p95} ms`);
    assert.ok(Math.max(0, ...found.long) < 200 * busy, `long tasks: ${found.long}`);
    // They are sessions, not only rows.
    await page.getByText('Question number 0', { exact: true }).first().click();
    await text(page, 'Answer number 0.');
    assert.deepEqual(world.complaints, []);
  } finally {
    await world.stop();
  }
});
