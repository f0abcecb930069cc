// What one does in the settings, and what comes of it: keys, rules, what was used, and what was done.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, closeBrowser, count, idle, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);
const KEY = 'sk-ant-of-the-test-0123456789';

inWorld('a key is added, tested, replaced and removed, and never comes back to the page', { wants: KEY }, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/models`);
  const provider = page.locator('.provider', { has: page.locator('strong', { hasText: /^anthropic$/ }) });
  const keep = async (key) => {
    await provider.getByLabel('Key for anthropic').fill(key);
    await provider.getByRole('button', { name: 'Keep key' }).click();
    await provider.getByText('Key kept on this machine').waitFor();
  };
  await provider.getByText('No key', { exact: true }).waitFor();
  await provider.getByRole('button', { name: 'Add key' }).click();
  // A wrong one is tried with the provider and not kept; what was typed stays to be mended.
  await provider.getByLabel('Key for anthropic').fill('sk-ant-a-wrong-one-000000');
  await provider.getByRole('button', { name: 'Keep key' }).click();
  await page.locator('.toast .bad', { hasText: /key/i }).waitFor();
  await provider.getByText('No key', { exact: true }).waitFor();
  await provider.getByRole('button', { name: 'Test', exact: true }).click();
  await provider.locator('[role=status].bad').waitFor();
  await shoot(page, 'key-refused');
  assert.deepEqual(await barriers(page), []);
  await keep(KEY);
  await provider.getByRole('button', { name: 'Replace key' }).waitFor();
  await provider.getByRole('button', { name: 'Test', exact: true }).click();
  await provider.locator('[role=status].good').waitFor();
  await page.reload();
  await provider.getByText('Key kept on this machine').waitFor();
  assert.ok(!(await page.content()).includes(KEY));
  assert.ok(!JSON.stringify(await world.api('models')).includes(KEY));
  await page.goto(`${world.origin}/`);
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  await page.goto(`${world.origin}/settings/models`);
  await provider.getByRole('button', { name: 'Remove key' }).click();
  await text(page, 'The key is gone.');
  await provider.getByText('No key', { exact: true }).waitFor();
});

inWorld('a rule that forbids holds at once, and one that makes no sense is refused', { mode: 'auto' }, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/permissions`);
  const rules = page.locator('form.setting', { has: page.getByLabel(/Never happens/) });
  await rules.getByLabel(/Never happens/).fill('fly to the moon');
  await rules.getByRole('button', { name: 'Save' }).click();
  await page.locator('.toast .bad').waitFor();
  assert.equal(await rules.getByLabel(/Never happens/).inputValue(), 'fly to the moon', 'what was typed is lost');
  await rules.getByLabel(/Never happens/).fill('write note.md');
  await rules.getByRole('button', { name: 'Save' }).click();
  await text(page, 'Saved: Never happens.');
  await page.goto(`${world.origin}/`);
  await say(page, 'Please write it.');
  await text(page, 'The note is dealt with.');
  assert.ok(!existsSync(join(world.workspace, 'note.md')), 'a rule was not kept');
  assert.equal(await count(page, '[data-ask]'), 0);
});

inWorld('what was used is drawn by day, and told by model, agent and session', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  const session = new URL(page.url()).pathname.split('/').pop();
  // A world is a minute old: what earlier days would have left is put before what today did.
  await page.route('**/api/v1/usage?by=day**', async (route) => {
    const [today] = (await world.api('usage?by=day&period=month')).rows;
    const day = (ago, cost_usd) => ({ ...today, key: new Date(Date.parse(today.key) - ago * 86_400_000).toISOString().slice(0, 10), cost_usd });
    await route.fulfill({ json: { rows: [day(6, 0.01), day(4, 0.02), day(3, 0.03), today] } });
  });
  await page.goto(`${world.origin}/settings/usage`);
  const columns = page.locator('.days .day');
  await columns.first().waitFor();
  assert.equal(await columns.count(), 7, 'a column for every day, also for those without anything');
  const heights = await columns.evaluateAll((days) => days.map((day) => day.firstElementChild.getBoundingClientRect().height));
  assert.ok(heights[3] > heights[2] && heights[2] > heights[0] && heights[0] > heights[6] && heights[1] < 3, `${heights}`);
  assert.match(await columns.nth(3).getAttribute('title'), /\$0\.03/);
  await shoot(page, 'usage-days', { phone: true });
  assert.deepEqual(await barriers(page), []);
  for (const [by, wanted] of [['model', 'claude-sonnet-4-5'], ['agent', 'weft'], ['provider', 'anthropic'], ['session', session]]) {
    await page.getByRole('combobox', { name: /^By/ }).selectOption(by);
    const row = page.locator('table.usage tr', { hasText: wanted });
    await row.waitFor();
    assert.match(await row.innerText(), /\$0\.0\d+/);
  }
  await page.getByLabel('over').selectOption('all');
  await page.locator('table.usage td', { hasText: session }).waitFor();
});

inWorld('the audit shows what was allowed, and a changed entry is found', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please write it.');
  await page.getByRole('button', { name: /Allow once/ }).click();
  await text(page, 'The note is dealt with.');
  await idle(page);
  const session = new URL(page.url()).pathname.split('/').pop();
  await page.goto(`${world.origin}/settings/audit`);
  const rows = page.locator('tbody tr');
  await rows.filter({ hasText: 'note.md' }).first().waitFor();
  const all = await rows.count();
  await page.getByLabel('Category').selectOption('model');
  await page.waitForFunction((before) => document.querySelectorAll('tbody tr').length < before, all);
  assert.ok((await rows.allInnerTexts()).every((row) => row.includes('model:')));
  await page.getByLabel('Category').selectOption('permission');
  // What was only asked was not allowed by that; the answer was.
  await rows.filter({ hasText: 'permission: write raised' }).filter({ hasNotText: 'allowed' }).waitFor();
  await rows.filter({ hasText: 'permission: write answered' }).filter({ hasText: 'allowed' }).waitFor();
  await shoot(page, 'audit', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await text(page, /All \d+ entries are as they were written\./);
  const folder = readdirSync(world.home, { recursive: true }).map(String).find((name) => /audit\/.*\.(jsonl|log)$/.test(name));
  const file = join(world.home, folder);
  writeFileSync(file, readFileSync(file, 'utf8').replace('note.md', 'nota.md'));
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.locator('[role=status].bad').waitFor();
  await page.getByLabel('Category').selectOption('');
  await rows.getByRole('link', { name: session }).first().click();
  await page.waitForURL((url) => url.pathname === `/s/${session}`);
});
