// What DESIGN asks of the eye and can be measured: how wide prose is, what a row of work says, what a name shows.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowser, idle, inWorld, say, text } from './harness.mjs';

after(closeBrowser);

/** How many letters stand on each full line of a paragraph. */
const lettersPerLine = (paragraph) => paragraph.evaluate((element) => {
  const words = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const lines = new Map();
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    for (let at = 0; at < node.length; at += 1) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const top = Math.round(range.getBoundingClientRect().top);
      lines.set(top, (lines.get(top) ?? 0) + 1);
    }
  }
  return [...lines.values()].slice(0, -1);
});

inWorld('prose has lines that are read with ease, code has the room that there is', {}, async (world) => {
  const page = await world.page({ viewport: { width: 1440, height: 900 } });
  await say(page, 'Tell me slowly');
  await page.locator('.row-end').waitFor();
  const lines = await lettersPerLine(page.locator('.answer p').last());
  assert.ok(lines.length > 10, JSON.stringify(lines));
  const usual = lines.reduce((sum, letters) => sum + letters, 0) / lines.length;
  assert.ok(usual >= 68 && usual <= 76, `${usual} letters on a line`);
  assert.ok(Math.max(...lines) <= 84, `a line of ${Math.max(...lines)}`);
});

inWorld('a row of work says what was done, and a name that was cut says so', { mode: 'auto', script: 'looks.json', files: { 'test.sh': 'echo "test result: ok. 4 passed; 0 failed"\necho "test result: ok. 5 passed; 0 failed"\n' } }, async (world) => {
  const page = await world.page({ viewport: { width: 1440, height: 900 } });
  const asked = 'Run the tests of everything that there is in this folder and tell me how many of them pass';
  await say(page, asked);
  await text(page, 'All pass.');
  await idle(page);
  // In the past, with what came of it.
  await page.locator('.call', { hasText: /^Ran sh test\.sh · 9 passed/ }).waitFor();
  // The model, the mode and the cost of a session are in its head.
  await page.locator('.session-header', { hasText: /project · chat · claude-sonnet-4-5 · Auto\s*\$0\.\d+/ }).waitFor();
  // Until a model gives it a title, a session is called by what was said, cut between two words.
  const { sessions } = await world.api('sessions');
  assert.equal(sessions[0].title, null);
  await page.locator('.entry-link', { hasText: 'Run the tests of everything that there is in this folder and tell me how many…' }).waitFor();
  await page.getByRole('heading', { name: asked }).waitFor();
  // A change begins with its first line; nothing is above it to be parted from.
  await say(page, 'Please write it.');
  await text(page, 'The note is dealt with.');
  await page.locator('.diff .line.added').first().waitFor();
  assert.equal(await page.locator('.diff .line').first().evaluate((line) => line.classList.contains('hunk') && line.getClientRects().length > 0), false);
});

inWorld('a session keeps its room when the panel comes, and the list steps aside for it', {}, async (world) => {
  const page = await world.page({ viewport: { width: 1000, height: 800 } });
  await say(page, 'Please use tools.');
  await text(page, 'The files say');
  await idle(page);
  const list = page.locator('aside.list');
  await list.getByText('Today').waitFor();
  await page.getByRole('button', { name: 'Panel', exact: true }).click();
  await page.locator('.trace-card').first().waitFor();
  await list.waitFor({ state: 'hidden' });
  const room = async () => (await page.locator('main').boundingBox()).width;
  assert.ok((await room()) > 500, `${await room()} pixels for the session`);
  // It is one key or click away, over the rest.
  await page.locator('main .session-header').getByRole('button', { name: 'Sessions' }).click();
  await list.waitFor();
  await page.locator('.overlay').click({ position: { x: 700, y: 400 } });
  await list.waitFor({ state: 'hidden' });
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.waitForFunction(() => document.activeElement?.hasAttribute('data-search'));
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'hidden' });
  // And back beside it where there is room again.
  await page.setViewportSize({ width: 1360, height: 800 });
  await list.waitFor();
  assert.ok((await room()) > 500);
});
