// A question that a source asks, with a limit, from adding the source by form to answering with the keyboard alone.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, closeBrowser, count, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);
const focused = (page, selector) => page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector);

inWorld('a question with a limit shows how long there is, also after a reload', { mode: 'auto', script: 'asking.json' }, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/sources`);
  await page.getByLabel('Name', { exact: true }).fill('desk');
  await page.getByLabel('Kind').selectOption('command');
  await page.getByRole('textbox', { name: 'Command' }).fill(`${process.execPath} ${join(import.meta.dirname, 'asking-source.mjs')}`);
  await page.getByRole('button', { name: 'Add source' }).click();
  await text(page, 'Source added.');
  const row = page.locator('.provider', { hasText: 'desk' });
  await row.getByRole('button', { name: 'Test', exact: true }).click();
  await row.getByText(/It works\. It has 1 tool: book\./).waitFor();
  await page.goto(`${world.origin}/`);
  await say(page, 'Please book a table.');
  const card = page.locator('[data-ask]', { hasText: 'For how many people?' });
  await card.waitFor();
  const left = async () => {
    const words = await card.locator('.countdown').innerText();
    assert.match(words, /^(1 h 0 min|\d+ min \d+ s) left$/);
    return words;
  };
  const before = await left();
  await page.waitForFunction((old) => document.querySelector('.countdown')?.innerText !== old, before);
  await shoot(page, 'countdown', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await page.reload();
  await card.waitFor();
  await left();
  // With the keyboard alone.
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await focused(page, '[data-ask]');
  await page.keyboard.press('Tab');
  await page.keyboard.type('4');
  await page.keyboard.press('Enter');
  await text(page, 'The table is booked.');
  assert.equal(await count(page, '[data-ask]'), 0);
});
