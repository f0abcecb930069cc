// What is known of a folder, as people ask for it: indexed, searched while typing, seen in context, followed by keyboard.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { barriers, closeBrowser, shoot, World } from './harness.mjs';

after(closeBrowser);
const FILES = {
  'store.py': '"""Keeps things."""\n\ndef check_stock(item):\n    """Whether there is some left."""\n    return item > 0\n',
  'api.py': 'from store import check_stock as verify\n\n\ndef handle_order(item):\n    return verify(item)\n',
  'main.py': 'from api import handle_order\n\n\ndef main():\n    handle_order(1)\n',
  'guide.md': '# Guide\n\n## Orders\n\nAn order is taken by `handle_order`, which is in api.py.\n',
};

async function inWorld(run) {
  const world = await World.start({ files: FILES });
  try {
    await run(world);
    assert.deepEqual(world.complaints ?? [], [], 'the page complained');
    assert.deepEqual(world.outside ?? [], [], 'a request would have left the machine');
  } finally {
    await world.stop();
  }
}

test('a folder is indexed, searched while typing, and followed from one thing to the next', { timeout: 90_000 }, () => inWorld(async (world) => {
  const page = await world.page();
  await page.locator('.rail').getByRole('link', { name: 'Knowledge' }).click();
  await page.getByText('Nothing is known of this folder yet.').waitFor();
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: 'Index this folder' }).click();
  await page.getByText(/4 files · .* up to date/).waitFor();

  const box = page.getByRole('searchbox');
  await box.pressSequentially('handle_or');
  const results = page.getByRole('list', { name: 'Results' });
  await results.getByText('handle_order').first().waitFor();
  await page.getByText(/results? in [\d.]+ ms/).waitFor();
  await box.press('ArrowDown');
  await page.getByRole('article', { name: /api\.py:4/ }).waitFor();
  await page.locator('.passage tr.hit').first().waitFor();
  assert.match(await page.locator('.passage tr.hit').first().innerText(), /def handle_order/);
  const graph = page.locator('.neighbourhood svg');
  await graph.waitFor();
  await graph.locator('text.title', { hasText: 'check_stock' }).waitFor();
  await graph.locator('text.title', { hasText: /^main$/ }).waitFor();
  await shoot(page, 'knowledge');
  assert.deepEqual(await barriers(page), []);

  // By keyboard alone to what it calls, and back.
  await page.getByRole('button', { name: /This calls check_stock/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('article', { name: /store\.py:3/ }).waitFor();
  await page.goBack();
  await page.getByRole('article', { name: /api\.py:4/ }).waitFor();
  await page.reload();
  await page.getByRole('article', { name: /api\.py:4/ }).waitFor();
  assert.equal(await page.getByRole('searchbox').inputValue(), 'handle_or', 'a reload lost the question');
}));

test('changes are found while the folder is watched, and a phone shows one thing at a time', { timeout: 90_000 }, () => inWorld(async (world) => {
  await world.api('knowledge/index', { method: 'POST', body: '{}' });
  const page = await world.page({ viewport: { width: 390, height: 780 } });
  await page.goto(`${world.origin}/knowledge`);
  await page.getByText(/4 files ·/).waitFor();
  await page.getByLabel('Watch for changes').check();
  // It has looked once when it has a report; from then on it hears of changes.
  while (!(await world.api('knowledge/status')).watch?.report) await page.waitForTimeout(50);
  writeFileSync(join(world.workspace, 'later.py'), 'def quite_new_thing():\n    pass\n');
  await page.getByText(/5 files ·/).waitFor();
  await page.getByRole('searchbox').fill('quite_new_thing');
  await page.getByRole('button', { name: /quite_new_thing/ }).first().click();
  await page.getByRole('article', { name: /later\.py:1/ }).waitFor();
  assert.equal(await page.locator('.results').isVisible(), false);
  await shoot(page, 'knowledge-phone');
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: 'Back to the results' }).click();
  await page.locator('.results').waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.equal(wide, false, 'the page is wider than the phone');
}));

const JUDGED = {
  ...FILES,
  'rules.md': '# Rules\n\n4.1 Files shall be kept for five years.\n\n4.2 Visitors may enter on Mondays.\n',
  'guideline.md': '# Guideline\n\n7.1 Files shall be kept for seven years.\n',
  'src/old.py': `# TODO: tidy this up\ndef old_one():\n    pass\n`,
};

test('conflicts are found and settled, an answer is checked, and code is judged', { timeout: 90_000 }, async () => {
  const world = await World.start({ files: JUDGED });
  try {
    await world.api('knowledge/index', { method: 'POST', body: '{}' });
    const page = await world.page();
    await page.goto(`${world.origin}/knowledge`);
    await page.getByText(/7 files ·/).waitFor();

    await page.getByRole('button', { name: 'Conflicts' }).click();
    await page.getByText('Nothing is known to contradict each other').waitFor();
    await page.getByRole('button', { name: 'Look for conflicts' }).click();
    const conflict = page.getByRole('article', { name: /contradict each other/ });
    await conflict.getByText('Files shall be kept for seven years').waitFor();
    assert.match(await conflict.innerText(), /rules\.md#4\.1/);
    assert.deepEqual(await barriers(page), []);
    await shoot(page, 'knowledge-conflicts');
    await conflict.getByLabel('How it is settled').fill('The rules hold: the guideline is older.');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing is known to contradict each other').waitFor();
    await page.getByLabel('Settled ones too').check();
    await page.getByText('Settled: The rules hold: the guideline is older.').waitFor();

    await page.getByRole('button', { name: 'Check an answer' }).click();
    await page.getByLabel(/An answer with citations/).fill('Files shall be kept for five years [rules.md#4.1]. Visitors may enter on Sundays [rules.md#4.2].');
    await page.getByRole('button', { name: 'Check it' }).click();
    await page.getByText(/checks hold\. Citations/).waitFor();
    await page.getByText(/checks fail/).waitFor();
    // What holds is folded up, with its evidence in it.
    await page.locator('details', { hasText: 'Visitors may enter on Mondays' }).first().locator('summary').click();
    await page.getByText('4.2 Visitors may enter on Mondays.').first().waitFor();
    assert.deepEqual(await barriers(page), []);
    await shoot(page, 'knowledge-verify');

    await page.getByRole('button', { name: 'Health' }).click();
    await page.getByRole('article', { name: 'Health of .' }).waitFor();
    await page.getByText('1 marker of debt').click();
    await page.getByText('src/old.py:1').waitFor();
    assert.deepEqual(await barriers(page), []);
    await shoot(page, 'knowledge-health');
    await page.reload();
    await page.getByRole('article', { name: 'Health of .' }).waitFor();

    const phone = await world.page({ viewport: { width: 390, height: 780 }, colorScheme: 'dark' });
    for (const view of ['conflicts', 'verify', 'health']) {
      await phone.goto(`${world.origin}/knowledge?view=${view}`);
      await phone.locator('.judged').waitFor();
      assert.deepEqual(await barriers(phone), []);
      assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth > window.innerWidth), false, `${view} is wider than the phone`);
      await shoot(phone, `knowledge-${view}-phone`);
    }
    assert.deepEqual(world.complaints ?? [], [], 'the page complained');
    assert.deepEqual(world.outside ?? [], [], 'a request would have left the machine');
  } finally {
    await world.stop();
  }
});
