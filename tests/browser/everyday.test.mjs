// What one does all day: begin to type, go on typing, see what went wrong, come back by an address, and what other tabs do meanwhile.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { barriers, closeBrowser, count, idle, inWorld, say, text } from './harness.mjs';

after(closeBrowser);
const composer = (page) => page.locator('[data-composer]');
const hasFocus = (page) => page.waitForFunction(() => document.activeElement?.hasAttribute('data-composer'));

inWorld('one types at once, and goes on typing in the session that it leads to', {}, async (world) => {
  const page = await world.page();
  await hasFocus(page);
  await page.keyboard.type('hello');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/s/*');
  await hasFocus(page);
  await page.keyboard.type('and again');
  await page.keyboard.press('Enter');
  await page.locator('.row-end').nth(1).waitFor();
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['hello', 'and again']);
});

inWorld('a command that ends badly shows why, and one that runs shows its newest line', { mode: 'auto', script: 'everyday.json' }, async (world) => {
  const page = await world.page();
  await say(page, 'run the broken one');
  const row = page.locator('.call', { hasText: 'exit code 3' }).first();
  await row.locator('svg.bad').waitFor();
  await row.locator('.output', { hasText: 'no such index' }).waitFor();
  await idle(page);
  await say(page, 'count slowly');
  // All that came is cut off above, never below: the newest line lies within the box.
  await page.waitForFunction(() => {
    const code = document.querySelector('.output.live code');
    return code && code.getBoundingClientRect().height > code.parentElement.clientHeight;
  });
  const within = await page.evaluate(() => {
    const code = document.querySelector('.output.live code');
    return code.parentElement.getBoundingClientRect().bottom - code.getBoundingClientRect().bottom;
  });
  assert.ok(within >= 0, `the newest line lies ${-within} pixels below the box`);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await idle(page);
});

inWorld('a session that waits says in the list what it wants to know, and the question is not said twice', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please write it.');
  await page.locator('.list .entry .asked', { hasText: 'note.md' }).waitFor();
  await page.getByRole('button', { name: /Allow once/ }).click();
  await text(page, 'The note is dealt with.');
  await idle(page);
  await page.locator('.list .entry .asked').waitFor({ state: 'detached' });
});

inWorld('the palette shows what can be done here first, then places and the newest sessions', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await page.locator('.row-end').waitFor();
  await page.keyboard.press('Control+k');
  const groups = page.locator('.palette [role=group]');
  await groups.first().waitFor();
  assert.deepEqual(await groups.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))), ['This session', 'Go to', 'Recent sessions', 'Settings', 'Status']);
  assert.deepEqual(await barriers(page), []);
  // Down leads on from group to group in the order that is seen.
  const rows = await page.locator('.palette [role=option]').allInnerTexts();
  for (let step = 1; step < rows.length; step += 1) await page.keyboard.press('ArrowDown');
  assert.equal(await page.locator('.palette [role=option][aria-selected=true]').innerText(), rows.at(-1));
  // What is typed puts the best first, whatever group it is of.
  await page.keyboard.type('shortcuts');
  await page.locator('.palette [role=group]').first().waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
});

inWorld('an address leads to a section of the settings and to a thing that was made, and the way back leads out of it', { mode: 'auto' }, async (world) => {
  const page = await world.page({ viewport: { width: 1360, height: 500 } });
  await page.goto(`${world.origin}/settings/permissions#limits`);
  const heading = page.getByRole('heading', { name: 'Limits' });
  await heading.waitFor();
  await page.waitForFunction(() => document.getElementById('limits').getBoundingClientRect().top < 140);
  await page.goto(`${world.origin}/`);
  await say(page, 'make a plan');
  await text(page, 'The plan is there.');
  await idle(page);
  const { pathname } = new URL(page.url());
  await page.goto(`${world.origin}${pathname}?panel=artifacts`);
  await page.locator('.artifact', { hasText: 'plan.md' }).click();
  await page.getByLabel('Version').waitFor();
  const address = page.url();
  await page.goBack();
  await page.locator('.artifact', { hasText: 'plan.md' }).waitFor();
  await page.goto(address);
  await page.locator('.artifact-page', { hasText: 'plan.md' }).waitFor();
});

inWorld('a session that is deleted in another tab says so, and comes back when that is taken back', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await page.locator('.row-end').waitFor();
  await idle(page);
  const id = new URL(page.url()).pathname.split('/').pop();
  const other = await page.context().newPage();
  world.watch(other);
  await other.goto(`${world.origin}/`);
  await other.locator(`[data-session="${id}"]`).hover();
  await other.locator(`[data-session="${id}"]`).getByRole('button', { name: /^Actions for/ }).click();
  await other.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No such session' }).waitFor();
  await page.locator(`[data-session="${id}"]`).waitFor({ state: 'detached' });
  assert.deepEqual(await barriers(page), []);
  await other.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Hello from the script.').waitFor();
  assert.equal(await count(page, '.said'), 1);
});

inWorld('a server that ends while a file is on its way is told of, and what was typed stays', {}, async (world) => {
  const page = await world.page();
  await composer(page).fill('look at this');
  // Sent so slowly that it is under way when the server goes.
  const link = await page.context().newCDPSession(page);
  await link.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 8_000 });
  await page.locator('input[type=file]').setInputFiles({ name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.alloc(200_000, 'words ') });
  await page.locator('.attached .pill').waitFor();
  await world.kill();
  await page.locator('.toast', { hasText: 'Weft does not answer' }).waitFor();
  await page.locator('.attached .pill').waitFor({ state: 'detached' });
  assert.equal(await composer(page).inputValue(), 'look at this');
  await link.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await world.serve();
  await page.locator('.banner', { hasText: 'Weft does not answer' }).waitFor({ state: 'detached' });
  await page.locator('input[type=file]').setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('milk') });
  await page.locator('.attached .pill').waitFor();
  await page.waitForFunction(() => !document.querySelector('[role=progressbar]'));
  await composer(page).press('Enter');
  await page.locator('.said-file', { hasText: 'list.txt' }).waitFor();
});

inWorld('the list is gone through with the arrows, and a sheet keeps the focus until it goes', {}, async (world) => {
  const page = await world.page();
  for (const words of ['hello one', 'hello two', 'hello three']) await world.api('sessions', { method: 'POST', body: JSON.stringify({ content: [{ type: 'text', text: words }] }) });
  await page.locator('.list .entry-link').nth(2).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.waitForFunction(() => document.activeElement?.hasAttribute('data-search'));
  for (let step = 0; step < 2; step += 1) await page.keyboard.press('ArrowDown');
  const second = await page.locator('.list .entry-link').nth(1).getAttribute('href');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), second);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.ok(await page.evaluate(() => document.activeElement.hasAttribute('data-search')));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**${second}`);
  // On a narrow screen both the list and the panel lie over the page.
  await page.setViewportSize({ width: 800, height: 700 });
  for (const [button, label] of [['Sessions', 'Sessions'], ['Panel', 'Panel']]) {
    const opens = page.locator('.main .header').getByRole('button', { name: button, exact: true });
    await opens.focus();
    await page.keyboard.press('Enter');
    const sheet = page.getByRole('dialog', { name: label });
    await sheet.waitFor();
    const inside = () => sheet.evaluate((element) => element.contains(document.activeElement));
    assert.ok(await inside(), `${label}: the focus stayed behind it`);
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press(step % 4 === 3 ? 'Shift+Tab' : 'Tab');
      assert.ok(await inside(), `${label}: the focus left it`);
    }
    assert.deepEqual(await barriers(page), []);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    assert.ok(await opens.evaluate((element) => element === document.activeElement), `${label}: the focus did not come back`);
  }
});

inWorld('after the machine slept both streams are opened anew, and nothing is lost or doubled', {}, async (world) => {
  const page = await world.page();
  await page.clock.install();
  await page.reload();
  await say(page, 'hello');
  await page.locator('.row-end').waitFor();
  const opened = [];
  page.on('request', (request) => /\/events(\?|$)/.test(request.url()) && opened.push(new URL(request.url()).pathname));
  // The lid is closed and opened again: what was due comes once, late.
  await page.clock.fastForward('10:00');
  const id = new URL(page.url()).pathname.split('/').pop();
  for (const path of ['/api/v1/events', `/api/v1/sessions/${id}/events`]) {
    for (let tries = 0; tries < 100 && !opened.includes(path); tries += 1) await page.clock.runFor(100);
    assert.ok(opened.includes(path), `${path} was not opened anew: ${opened}`);
  }
  await say(page, 'and again');
  await page.locator('.row-end').nth(1).waitFor();
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['hello', 'and again']);
});
