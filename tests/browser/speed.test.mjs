// How fast a long session opens, how smoothly it streams, what a tab keeps. The figures are printed; the bounds are wide
// enough for a busy machine and still catch work and memory that grow with the session.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, World } from './harness.mjs';
import { ACTIVITIES, firstLoad, longOne, tabMemory, talkative } from './measure.mjs';

after(closeBrowser);

async function measured(run) {
  const model = await talkative();
  const world = await World.start({ model: model.url, mode: 'auto' });
  try {
    return await run(world);
  } finally {
    await world.stop();
    model.close();
  }
}

test(`the page is there soon, and a session of ${ACTIVITIES} activities opens at once and streams smoothly`, async () => {
  const { load, long } = await measured(async (world) => ({ load: await firstLoad(world), long: await longOne(world) }));
  console.log(JSON.stringify({ load, long }));
  assert.ok(load.cold < 3_000 && load.warm < 3_000, `the page took ${load.cold} ms`);
  assert.ok(load.scriptKb < 250, `${load.scriptKb} KB of script`);
  assert.ok(long.opened < 1_500, `opening took ${long.opened} ms`);
  assert.ok(long.rows < 120, `${long.rows} rows are in the page`);
  assert.ok(long.long.filter((ms) => ms > 200).length === 0, `long tasks: ${long.long}`);
});

test('a tab keeps no more after many deltas than after few', async () => {
  const memory = await measured((world) => tabMemory(world, 20_000));
  console.log(JSON.stringify(memory));
  assert.ok(memory.grown < 8, `it grew by ${memory.grown} MB`);
  assert.ok(memory.last.nodes < memory.first.nodes * 3 + 2_000, `${memory.last.nodes} nodes`);
});
