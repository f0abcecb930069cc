// How fast a long session opens and how smoothly it streams. The figures are printed; the bounds are wide enough for a
// busy machine and still catch work that grows with the session.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { bin, closeBrowser, say, World } from './harness.mjs';

after(closeBrowser);
const ACTIVITIES = 5_000;

/** A log with one long turn, as `weft sessions export` writes it. */
function longSession(id, workspace) {
  const lines = [];
  let seq = 0;
  let at = Date.now() - 3_600_000;
  const add = (event) => lines.push({ session: id, seq: (seq += 1), at: (at += 10), ...event });
  const spent = { model: 'anthropic/claude-sonnet-4-5', usage: { input: 100, output: 10 }, cost: 1000, millis: 5 };
  add({ type: 'session_started', workspace, agent: 'weft', model: 'anthropic/claude-sonnet-4-5', mode: 'auto', limits: {} });
  add({ type: 'input_received', input: '000000000001', content: [{ type: 'text', text: 'Five thousand steps' }], delivery: 'follow_up' });
  add({ type: 'turn_started', turn: 1, inputs: ['000000000001'] });
  for (let step = 0; step < ACTIVITIES; step += 1) {
    add({ type: 'round_started', round: step + 1, attempt: 1, model: 'anthropic/claude-sonnet-4-5' });
    add({ type: 'round_answered', parts: [{ type: 'text', text: `Step **${step}**.` }, { type: 'tool_call', id: `c${step}`, name: 'shell', input: { command: `echo ${step}` } }], stop: 'tool_calls', spent, plan: [{ access: 'run' }] });
    add({ type: 'tool_started', call: `c${step}`, tool: 'shell', summary: `Run \`echo ${step}\`` });
    add({ type: 'tool_finished', call: `c${step}`, tool: 'shell', outcome: 'ok', output: { text: String(step), summary: `Ran \`echo ${step}\`` }, millis: 3 });
  }
  add({ type: 'turn_ended', turn: 1, reason: { reason: 'completed' } });
  return [{ weft: 'session', version: 1, id }, ...lines].map((line) => JSON.stringify(line)).join('\n');
}

test(`a session of ${ACTIVITIES} activities opens at once and streams smoothly`, async () => {
  const world = await World.start();
  try {
    const file = join(world.folder, 'long.jsonl');
    writeFileSync(file, longSession('3k9q0d7xw2mp', world.workspace));
    const imported = spawnSync(bin('weft'), ['sessions', 'import', file], { cwd: world.workspace, env: world.env, encoding: 'utf8' });
    assert.equal(imported.status, 0, imported.stderr);
    const page = await world.page();
    await page.locator('.entry-link').first().waitFor();
    // As somebody who was here before: the page once more, from its address to a box that can be typed in.
    await page.reload();
    await page.locator('.entry-link').first().waitFor();
    const ready = await page.evaluate(() => performance.getEntriesByName('weft-ready')[0]?.startTime ?? Infinity);
    const opened = await page.evaluate(() => new Promise((done) => {
      window.long = [];
      new PerformanceObserver((list) => window.long.push(...list.getEntries().map((entry) => entry.duration))).observe({ entryTypes: ['longtask'] });
      const start = performance.now();
      document.querySelector('.entry-link').click();
      const look = () => (document.querySelectorAll('.placed-row .call').length > 5 ? done(performance.now() - start) : requestAnimationFrame(look));
      look();
    }));
    await page.evaluate(() => (window.long = []));
    await say(page, 'Tell it quickly.');
    await page.getByText('The end of it.').waitFor();
    const long = await page.evaluate(() => window.long.map(Math.round));
    const nodes = await page.locator('.placed-row').count();
    console.log(`ready ${Math.round(ready)} ms after its address was opened`);
    assert.ok(ready < 3_000, `the page took ${ready} ms`);
    console.log(`opened in ${Math.round(opened)} ms; long tasks while 60 deltas a second came: ${JSON.stringify(long)}; rows in the page: ${nodes}`);
    assert.ok(opened < 1_500, `opening took ${opened} ms`);
    assert.ok(nodes < 120, `${nodes} rows are in the page`);
    assert.ok(long.filter((ms) => ms > 200).length === 0, `long tasks: ${long}`);
  } finally {
    await world.stop();
  }
});
