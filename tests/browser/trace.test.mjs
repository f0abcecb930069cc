// The trace: what it shows, holds back, clears, exports, and how it leads to the conversation and back.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import { barriers, closeBrowser, count, idle, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);
const cards = (page, number) => page.waitForFunction((wanted) => document.querySelectorAll('.trace-card').length === wanted, number);

async function opened(world, page) {
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  await idle(page);
  await page.getByRole('button', { name: 'Panel', exact: true }).click();
  await page.getByRole('tab', { name: 'Trace' }).click();
  await page.locator('.trace-card').first().waitFor();
  return new URL(page.url()).pathname.split('/').pop();
}

inWorld('the trace is paused, cleared and exported', {}, async (world) => {
  const page = await world.page();
  const session = await opened(world, page);
  const before = await count(page, '.trace-card');
  await page.getByRole('button', { name: 'Pause' }).click();
  await say(page, 'hello again');
  await page.locator('.row-end').nth(1).waitFor();
  await text(page, /Paused; [1-9]\d* new since\./);
  assert.equal(await count(page, '.trace-card'), before, 'it went on although it was paused');
  await page.getByRole('tabpanel').getByRole('button', { name: 'Go on' }).click();
  await page.waitForFunction((few) => document.querySelectorAll('.trace-card').length > few, before);

  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await cards(page, 0);
  await text(page, 'Nothing new yet.');
  await shoot(page, 'trace-cleared');
  assert.deepEqual(await barriers(page), []);
  await say(page, 'hello a third time');
  await page.locator('.row-end').nth(2).waitFor();
  await page.locator('.trace-card', { hasText: 'hello a third time' }).waitFor();
  assert.equal(await page.locator('.trace-card', { hasText: 'hello again' }).count(), 0);

  // What is shown is what is exported, and nothing was lost by clearing.
  const save = async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export what is shown' }).click()]);
    assert.equal(download.suggestedFilename(), `weft-${session}.jsonl`);
    return readFileSync(await download.path(), 'utf8').split('\n').map((line) => JSON.parse(line));
  };
  const part = await save();
  assert.ok(part.length > 0 && part.every((event) => event.seq > 2));
  await page.getByRole('button', { name: 'Show all' }).click();
  const { events } = await world.api(`sessions/${session}/log`);
  assert.deepEqual((await save()).map((event) => event.seq), events.map((event) => event.seq));
  await page.getByLabel('Search the trace').fill('third');
  await page.waitForFunction(() => document.querySelectorAll('.trace-card').length < 5);
  assert.ok((await save()).every((event) => JSON.stringify(event).includes('third')));
});

inWorld('everything that came of one message has one trace id, which finds it', {}, async (world) => {
  const page = await world.page();
  const session = await opened(world, page);
  await say(page, 'Please use tools.');
  await text(page, 'The files say');
  await idle(page);
  const card = page.locator('.trace-card', { hasText: 'Please use tools.' }).first();
  await card.getByRole('button', { expanded: false }).click();
  await card.getByRole('button', { name: `${session}.2`, exact: true }).click();
  assert.equal(await page.getByLabel('Search the trace').inputValue(), `${session}.2`);
  await page.locator('.trace-card', { hasText: 'Turn 2 ended' }).waitFor();
  assert.equal(await page.locator('.trace-card', { hasText: /^Turn 1/ }).count(), 0);
  await page.locator('.trace-card', { hasText: 'a.txt' }).first().waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: world.origin });
  await card.getByRole('button', { name: 'Copy trace id' }).click();
  await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, `${session}.2`);
  await card.getByRole('button', { name: 'Copy event' }).click();
  await page.waitForFunction(async () => JSON.parse(await navigator.clipboard.readText()).type === 'input_received');
});

inWorld('a message leads to its card even where it was cleared, and a card to its message', {}, async (world) => {
  const page = await world.page();
  await opened(world, page);
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await cards(page, 0);
  await page.locator('.row-end').hover();
  await page.getByRole('button', { name: 'Show in trace' }).first().click();
  await page.locator('.trace-card.wanted').waitFor();
  await page.getByRole('button', { name: /Show event 2 in/ }).click();
  await page.locator('.placed-row.marked').waitFor();
});

inWorld('each message leads to its own card and back, and the system prompt is among the cards', {}, async (world) => {
  const page = await world.page();
  await opened(world, page);
  await say(page, 'hello again');
  await page.locator('.row-end').nth(1).waitFor();
  const card = page.locator('.trace-card', { hasText: 'hello again' }).first();
  await card.getByRole('button', { name: /Show event \d+ in/ }).click();
  await page.locator('.placed-row.row-said.marked', { hasText: 'hello again' }).waitFor();
  await page.locator('.said', { hasText: 'hello again' }).hover();
  await page.getByRole('button', { name: 'Show this message in the trace' }).last().click();
  await page.locator('.trace-card.wanted', { hasText: 'hello again' }).waitFor();
  // What a search finds leads to the message too, also when it is not the first.
  await page.getByLabel('Search all sessions').fill('again');
  await page.locator('.hit', { hasText: 'You: ' }).first().click();
  await page.locator('.placed-row.row-said.marked', { hasText: 'hello again' }).waitFor();

  await page.getByRole('button', { name: 'Panel', exact: true }).click();
  await page.getByLabel('Search the trace').fill('system prompt');
  const prompt = page.locator('.trace-card', { hasText: 'System prompt' });
  await prompt.getByRole('button', { expanded: false }).click();
  await prompt.getByText(/^Agent's instructions/).click();
  await prompt.locator('pre', { hasText: /You are/ }).first().waitFor();
  await shoot(page, 'trace-prompt', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: 'System', exact: true }).click();
  await prompt.waitFor({ state: 'detached' });
});
