// What the page costs, measured in Chromium against the real server: how soon one can type, how soon a long session is
// there, how smoothly it streams, what the tab keeps. `node measure.mjs` prints one JSON line per figure for `make bench`;
// the tests hold the same figures to bounds that also a busy machine keeps.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { bin, closeBrowser, say, World } from './harness.mjs';

export const ACTIVITIES = 5_000;
const MODEL = 'anthropic/claude-sonnet-4-5';
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** A model that says as many words as it is told, as fast as it is told: "say 600 words, 60 a second". */
export async function talkative() {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const said = JSON.parse(body).messages.flatMap((message) => (typeof message.content === 'string' ? [message.content] : message.content.map((part) => part.text ?? '')));
    const [, count, rate] = said.map((words) => /say (\d+) words, (\d+) a second/.exec(words)).findLast(Boolean) ?? [0, 1, 60];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    const usage = { input_tokens: 10, output_tokens: 10 };
    send('message_start', { message: { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], stop_reason: null, usage } });
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    const begun = performance.now();
    for (let number = 0; number < Number(count); number += 1) {
      const due = begun + (number * 1000) / Number(rate);
      if (due > performance.now()) await new Promise((done) => setTimeout(done, due - performance.now()));
      const word = number % 40 === 39 ? 'end.\n\n' : number % 11 === 10 ? '**weight** ' : number % 17 === 16 ? '`code` ' : `word${number % 10} `;
      send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word } });
    }
    send('content_block_stop', { index: 0 });
    send('message_delta', { delta: { stop_reason: 'end_turn' }, usage });
    send('message_stop', {});
    response.end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

/** A log with one long turn, as `weft sessions export` writes it. */
function longSession(id, workspace) {
  const lines = [];
  let seq = 0;
  let at = Date.now() - 3_600_000;
  const add = (event) => lines.push({ session: id, seq: (seq += 1), at: (at += 10), ...event });
  const spent = { model: MODEL, usage: { input: 100, output: 10 }, cost: 1000, millis: 5 };
  add({ type: 'session_started', workspace, agent: 'weft', model: MODEL, mode: 'auto', limits: {} });
  add({ type: 'input_received', input: '000000000001', content: [{ type: 'text', text: 'Five thousand steps' }], delivery: 'follow_up' });
  add({ type: 'turn_started', turn: 1, inputs: ['000000000001'] });
  for (let step = 0; step < ACTIVITIES; step += 1) {
    add({ type: 'round_started', round: step + 1, attempt: 1, model: MODEL });
    add({ type: 'round_answered', parts: [{ type: 'text', text: `Step **${step}**.` }, { type: 'tool_call', id: `c${step}`, name: 'shell', input: { command: `echo ${step}` } }], stop: 'tool_calls', spent, plan: [{ access: 'run' }] });
    add({ type: 'tool_started', call: `c${step}`, tool: 'shell', summary: `Run \`echo ${step}\`` });
    add({ type: 'tool_finished', call: `c${step}`, tool: 'shell', outcome: 'ok', output: { text: String(step), summary: `Ran \`echo ${step}\`` }, millis: 3 });
  }
  add({ type: 'turn_ended', turn: 1, reason: { reason: 'completed' } });
  return [{ weft: 'session', version: 1, id }, ...lines].map((line) => JSON.stringify(line)).join('\n');
}

const ready = (page) => page.evaluate(() => performance.getEntriesByName('weft-ready')[0]?.startTime ?? Infinity);

/** From the address to a box that can be typed in: for somebody new, and for somebody who was here before. */
export async function firstLoad(world) {
  const page = await world.page();
  await page.locator('[data-composer]').waitFor();
  // The cookie is there now; a browser that has nothing but that.
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  const scripts = new Set();
  let bytes = 0;
  network.on('Network.responseReceived', ({ requestId, type }) => type === 'Script' && scripts.add(requestId));
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => scripts.has(requestId) && (bytes += encodedDataLength));
  const cold = [];
  for (let run = 0; run < 3; run += 1) {
    bytes = 0;
    await page.reload();
    await page.locator('[data-composer]').waitFor();
    cold.push(await ready(page));
  }
  await page.waitForTimeout(300);
  const scriptKb = bytes / 1024;
  await network.send('Network.setCacheDisabled', { cacheDisabled: false });
  const warm = [];
  for (let run = 0; run < 4; run += 1) {
    await page.reload();
    await page.locator('[data-composer]').waitFor();
    warm.push(await ready(page));
  }
  await page.close();
  return { cold: median(cold), warm: median(warm.slice(1)), scriptKb };
}

/** How long it takes from the click until a session of many activities is drawn, and how smoothly it then streams. */
export async function longOne(world) {
  const file = join(world.folder, 'long.jsonl');
  writeFileSync(file, longSession('3k9q0d7xw2mp', world.workspace));
  const imported = spawnSync(bin('weft'), ['sessions', 'import', file], { cwd: world.workspace, env: world.env, encoding: 'utf8' });
  assert.equal(imported.status, 0, imported.stderr);
  const page = await world.page();
  const opened = [];
  for (let run = 0; run < 5; run += 1) {
    await page.goto(`${world.origin}/`);
    await page.locator('.entry-link').first().waitFor();
    await page.waitForTimeout(300);
    opened.push(await page.evaluate(() => new Promise((done) => {
      const start = performance.now();
      document.querySelector('.entry-link').click();
      const look = () => (document.querySelectorAll('.placed-row .call').length > 5 ? done(performance.now() - start) : requestAnimationFrame(look));
      look();
    })));
  }
  await page.evaluate(() => {
    window.long = [];
    new PerformanceObserver((list) => window.long.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({ entryTypes: ['longtask'] });
  });
  await say(page, 'say 600 words, 60 a second');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await page.evaluate(() => (window.long = []));
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached', timeout: 60_000 });
  const long = await page.evaluate(() => window.long);
  const rows = await page.locator('.placed-row').count();
  await page.close();
  return { opened: median(opened), slowest: Math.max(...opened), long, rows };
}

/** What the tab keeps after so many deltas, over what it kept after the first tenth of them, in megabytes. */
export async function tabMemory(world, deltas = 50_000, rate = 2_500) {
  const page = await world.page();
  const tab = await page.context().newCDPSession(page);
  await tab.send('Performance.enable');
  const kept = async () => {
    await page.waitForTimeout(500);
    for (let round = 0; round < 3; round += 1) await tab.send('HeapProfiler.collectGarbage');
    const { metrics } = await tab.send('Performance.getMetrics');
    const of = (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    return { heap: of('JSHeapUsedSize') / 1024 / 1024, nodes: of('Nodes'), listeners: of('JSEventListeners') };
  };
  const turn = deltas / 10;
  let first = null;
  for (let round = 0; round < 10; round += 1) {
    await say(page, `say ${turn} words, ${rate} a second`);
    await page.locator('.row-said').nth(0).waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor().catch(() => {});
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached', timeout: 120_000 });
    first ??= await kept();
  }
  const last = await kept();
  await page.close();
  return { first, last, grown: last.heap - first.heap };
}

async function main() {
  const figure = (what, unit, value, goal, note = '') => console.log(JSON.stringify({ what, unit, value, goal, note }));
  const model = await talkative();
  const world = await World.start({ model: model.url, mode: 'auto' });
  try {
    const load = await firstLoad(world);
    figure('page: from its address to a box one can type in, nothing cached', 'ms', load.cold, 1_000, `with what was cached ${load.warm.toFixed(0)} ms`);
    figure('page: script of the first view, compressed', 'kb', load.scriptKb, 250);
    const long = await longOne(world);
    figure(`page: a session of ${ACTIVITIES.toLocaleString('en')} activities opens`, 'ms', long.opened, 300, `slowest of 5: ${long.slowest.toFixed(0)} ms; ${long.rows} rows are drawn`);
    figure('page: longest task while 60 deltas a second come', 'ms', Math.max(0, ...long.long), 50, `${long.long.length} tasks over 50 ms in 10 s`);
    const memory = await tabMemory(world);
    figure('page: what the tab keeps more after 50,000 deltas than after 5,000', 'mb', memory.grown, 5, `${memory.last.heap.toFixed(1)} MB in the end, ${memory.last.nodes} nodes (${memory.first.nodes} before)`);
  } finally {
    await world.stop();
    model.close();
    await closeBrowser();
  }
}
if (process.argv[1] === import.meta.filename) await main();
