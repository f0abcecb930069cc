// Finding words in a session that is longer than what the page holds of it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, bin, closeBrowser, inWorld, shoot } from './harness.mjs';

after(closeBrowser);
const TURNS = 600;
const ID = '0000000000ff';

/** As `weft sessions export` writes one. */
function longSession(world) {
  let seq = 0;
  const model = 'anthropic/claude-sonnet-4-5';
  const add = (event) => JSON.stringify({ session: ID, seq: (seq += 1), at: Date.now() - 1_000_000 + seq, ...event });
  const turns = Array.from({ length: TURNS }, (_, index) => [
    add({ type: 'input_received', input: String(index).padStart(12, '0'), content: [{ type: 'text', text: `Question ${index}, please` }], delivery: 'follow_up' }),
    add({ type: 'turn_started', turn: index + 1, inputs: [String(index).padStart(12, '0')] }),
    add({ type: 'round_started', round: 1, attempt: 1, model }),
    add({ type: 'round_answered', parts: [{ type: 'text', text: index % 200 === 7 ? `A **quo**kka [lives](https://a.example) in answer ${index}.` : `Nothing much in answer ${index}.` }], stop: 'end', spent: { model, usage: { input: 100, output: 10 }, cost: 1000, millis: 5 }, plan: [] }),
    add({ type: 'turn_ended', turn: index + 1, reason: { reason: 'completed' } }),
  ]);
  seq = 0;
  const begun = add({ type: 'session_started', workspace: world.workspace, agent: 'weft', model, mode: 'ask', limits: {} });
  const events = [begun, ...turns.flat()].map((line, index) => JSON.stringify({ ...JSON.parse(line), seq: index + 1 }));
  const file = join(world.folder, 'long.jsonl');
  writeFileSync(file, [JSON.stringify({ weft: 'session', version: 1, id: ID }), ...events].join('\n'));
  const imported = spawnSync(bin('weft'), ['sessions', 'import', file], { cwd: world.workspace, env: world.env, encoding: 'utf8' });
  assert.equal(imported.status, 0, imported.stderr);
}

inWorld('words are found anywhere in a long session, and the way through them is by key', {}, async (world) => {
  longSession(world);
  const page = await world.page();
  await page.goto(`${world.origin}/s/${ID}`);
  await page.getByText(`Nothing much in answer ${TURNS - 1}.`).waitFor();
  assert.equal(await page.getByText('quokka').count(), 0, 'what is looked for is far from what is drawn');
  // Somebody scrolls up, and what is older is on its way when the words are typed: nothing more need be done.
  let held = [];
  await page.route('**/log?before=**', (route) => (held ? held.push(route) : route.continue()));
  await page.locator('.transcript .scroll').evaluate((element) => (element.scrollTop = 0));
  for (let tries = 0; held.length === 0 && tries < 200; tries += 1) await page.waitForTimeout(20);
  assert.ok(held.length > 0, 'nothing older was asked for');
  await page.keyboard.press('Control+f');
  const bar = page.getByRole('search', { name: 'In this session' });
  await bar.getByRole('textbox').fill('QUOKKA lives');
  await bar.getByText('Loading earlier turns…').waitFor();
  const waiting = held;
  held = null;
  for (const route of waiting) await route.continue();
  await bar.getByText('1 of 3').waitFor();
  const inSight = async (words) => {
    const row = page.locator('.placed-row.marked', { hasText: words });
    await row.waitFor();
    await page.waitForFunction((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= window.innerHeight;
    }, await row.elementHandle());
  };
  await inSight('quokka lives in answer 7.');
  // The words themselves are marked, across the bold and the link.
  assert.deepEqual(await page.evaluate(() => [...CSS.highlights.get('found')].map(String)), ['quokka lives']);
  assert.deepEqual(await barriers(page), []);
  await shoot(page, 'find', { phone: true });
  await page.keyboard.press('Enter');
  await bar.getByText('2 of 3').waitFor();
  await inSight('quokka lives in answer 207.');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.press('Shift+Enter');
  await bar.getByText('3 of 3').waitFor();
  await inSight('quokka lives in answer 407.');
  await bar.getByRole('textbox').fill('no such word');
  await bar.getByText('Not found').waitFor();
  // Gone with its marks; a turn would not be stopped by it.
  await page.keyboard.press('Escape');
  await bar.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => CSS.highlights.has('found')), false);
  await page.waitForFunction(() => document.activeElement?.hasAttribute('data-composer'));
  // The trace looks through all of it too.
  await page.goto(`${world.origin}/s/${ID}?panel=trace`);
  await page.getByText(/, more above$/).waitFor();
  await page.getByLabel('Search the trace').fill('#17');
  await page.locator('.trace-card', { hasText: 'Question 3, please' }).waitFor();
});
