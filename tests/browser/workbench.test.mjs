// The workbench as people use it: first start, chat with tools, asks, trouble, two tabs, trace, files, keyboard, phone.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, closeBrowser, count, idle, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);
inWorld('first start without a key works at once and says what it is', { key: false }, async (world) => {
  const page = await world.page();
  assert.ok(!page.url().includes('token'), 'the token stayed in the address');
  await text(page, 'the small built-in offline model answers');
  await text(page, 'Three ways to a model that thinks');
  await shoot(page, 'first-start');
  assert.deepEqual(await barriers(page), []);
  await say(page, 'explain a.txt');
  await page.waitForURL(/\/s\//);
  await page.locator('.row-end').waitFor();
  assert.match(await page.locator('.transcript').innerText(), /a\.txt is Text, 1 line/);
});

inWorld('a chat with tools is told in plain words', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please use tools.');
  await text(page, 'The files say');
  await idle(page);
  const group = page.getByRole('button', { name: /Read 2 files/ });
  await group.click();
  await page.getByRole('button', { name: /a\.txt/ }).first().waitFor();
  await page.getByRole('button', { name: /Thought/ }).click();
  await text(page, 'I look at both files first.');
  assert.equal(await count(page, '.answer table'), 1);
  assert.match(await page.title(), /Weft$/);
  await shoot(page, 'session');
  assert.deepEqual(await barriers(page), []);
  await page.reload();
  await text(page, 'The files say');
  assert.equal(await count(page, '.row-said'), 1, 'a reload doubled something');
});

inWorld('an approval shows the diff, and yes does it', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please write it.');
  const card = page.locator('[data-ask]');
  await card.waitFor();
  assert.match(await card.innerText(), /note\.md/);
  assert.match(await card.innerText(), /First line/);
  assert.ok(!existsSync(join(world.workspace, 'note.md')));
  await page.locator('[data-composer]').fill('The box is not locked');
  await shoot(page, 'approval');
  assert.deepEqual(await barriers(page), []);
  await page.locator('[data-composer]').fill('');
  await card.focus();
  await page.keyboard.press('y');
  await text(page, 'The note is dealt with.');
  assert.equal(readFileSync(join(world.workspace, 'note.md'), 'utf8'), 'First line\nSecond line\n');
  await text(page, 'Allowed once');

  // What it changed is shown beside, and taken back.
  await page.getByRole('button', { name: 'Panel', exact: true }).click();
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.locator('.panel-body .diff-file').waitFor();
  await shoot(page, 'files');
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: 'Undo turn 1' }).click();
  await text(page, /Took back turn 1/);
  assert.ok(!existsSync(join(world.workspace, 'note.md')), 'undo left the file');
  await page.getByRole('button', { name: 'Redo file changes' }).click();
  await text(page, /Put turn 1 in place again/);
  assert.ok(existsSync(join(world.workspace, 'note.md')), 'redo did not bring the file');
});

inWorld('a rejection leaves the file alone and can say what to do instead', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please write it.');
  await page.getByRole('button', { name: /Do something else/ }).click();
  await page.getByLabel('What to do instead').fill('Leave it');
  await page.getByRole('button', { name: 'Reject and say this' }).click();
  await text(page, 'The note is dealt with.');
  await text(page, 'Rejected: Leave it');
  assert.ok(!existsSync(join(world.workspace, 'note.md')));
});

inWorld('options are pills, answered once from either of two tabs', {}, async (world) => {
  const one = await world.page();
  await say(one, 'Please ask me.');
  await one.getByRole('button', { name: 'Green' }).waitFor();
  const two = await one.context().newPage();
  world.watch(two);
  await two.goto(`${world.origin}/waiting`);
  await two.getByRole('button', { name: 'Green' }).waitFor();
  await shoot(two, 'waiting');
  assert.deepEqual(await barriers(two), []);
  // Whichever is first counts; the other's button may be gone by then.
  const buttons = await Promise.all([one.getByRole('button', { name: 'Green' }).elementHandle(), two.getByRole('button', { name: 'Blue' }).elementHandle()]);
  await Promise.all(buttons.map((button) => button.evaluate((element) => element.click())));
  await text(one, 'Noted.');
  // What was asked can still be read, with what was answered under it.
  await one.locator('.call', { hasText: /Which colour\?[^]*Answered: (Green|Blue)$/ }).waitFor();
  await text(two, 'Nothing waits for you.');
  const session = one.url().split('/s/')[1].split('?')[0];
  const { events } = await world.api(`sessions/${session}/log`);
  assert.equal(events.filter((event) => event.type === 'ask_answered').length, 1);
});

inWorld('a reload in the middle of a stream loses and doubles nothing', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Tell it slowly.');
  await text(page, /look away/);
  await page.reload();
  await text(page, /look away/);
  await say(page, 'hello, after that');
  await page.getByRole('list', { name: 'Queued' }).waitFor();
  await text(page, 'Hello from the script.');
  const answer = await page.locator('.row-text').first().innerText();
  assert.equal(answer.match(/One line after the other/g)?.length, 60);
  assert.equal(await count(page, '.row-said'), 2);
});

inWorld('a server that is killed during a turn and during an ask comes back with everything', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Tell it slowly.');
  await text(page, /look away/);
  await world.kill();
  await text(page, /connection was lost|does not answer/i);
  await shoot(page, 'reconnecting');
  await world.serve();
  await idle(page).catch(() => {});
  await page.locator('.row-end, .row-note').first().waitFor({ timeout: 30_000 });
  assert.equal(await count(page, '.row-said'), 1);

  await page.goto(`${world.origin}/`);
  await say(page, 'Please write it.');
  await page.locator('[data-ask]').waitFor();
  await world.kill();
  await text(page, /connection was lost|does not answer/i);
  await world.serve();
  await page.getByText(/connection was lost/i).waitFor({ state: 'detached' });
  assert.equal(await count(page, '[data-ask]'), 1);
  await page.getByRole('button', { name: /Allow once/ }).click();
  await text(page, 'The note is dealt with.');
  assert.ok(existsSync(join(world.workspace, 'note.md')));
});

inWorld('stop ends a turn', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Tell it slowly.');
  await text(page, /look away/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await text(page, 'Stopped.');
  await page.getByRole('button', { name: 'Go on' }).waitFor();
});

inWorld('a running command shows its output, and a word in between reaches the model', { mode: 'auto' }, async (world) => {
  const page = await world.page();
  await say(page, 'Please run it.');
  await page.locator('.output.live', { hasText: 'line 2' }).waitFor();
  await shoot(page, 'running');
  const box = page.locator('[data-composer]');
  await box.fill('Faster, please');
  await box.press('Control+Enter');
  await text(page, 'I hurry.');
  await text(page, 'While it worked');
  assert.equal(await count(page, '.row-said'), 2);
});

inWorld('a failing model says what happened and what to do', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please fail.');
  await text(page, /Add a valid key under Settings/);
  await shoot(page, 'failed');
  assert.deepEqual(await barriers(page), []);
});

inWorld('the trace shows every event and leads to its message and back', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please use tools.');
  await text(page, 'The files say');
  await page.keyboard.press('Escape');
  await page.locator('h1').click({ position: { x: 2, y: 2 } }).catch(() => {});
  await page.getByRole('button', { name: 'Panel', exact: true }).click();
  await page.getByRole('tab', { name: 'Trace' }).click();
  await page.locator('.trace-card').first().waitFor();
  await shoot(page, 'trace');
  assert.deepEqual(await barriers(page), []);
  await page.getByLabel('Search the trace').fill('beta');
  await page.locator('.trace-card').first().waitFor();
  const fewer = await count(page, '.trace-card');
  await page.getByLabel('Search the trace').fill('');
  await page.waitForFunction((before) => document.querySelectorAll('.trace-card').length > before, fewer);
  await page.getByRole('button', { name: 'Model', exact: true }).click();
  assert.equal(await count(page, '.trace-card.tone-model'), 0);
  await page.getByRole('button', { name: 'Model', exact: true }).click();
  await page.getByRole('button', { name: /Show event 2 in/ }).click();
  await page.locator('.placed-row.marked').waitFor();
  for (const tab of ['Context', 'Usage']) {
    await page.getByRole('tab', { name: tab }).click();
    await shoot(page, tab.toLowerCase());
    assert.deepEqual(await barriers(page), []);
  }
});

inWorld('a fork goes its own way', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  const first = page.url();
  await page.getByRole('button', { name: 'Fork after this turn' }).click();
  await page.waitForURL((url) => url.href !== first && url.pathname.startsWith('/s/'));
  await text(page, 'Hello from the script.');
  await say(page, 'Please use tools.');
  await text(page, 'The files say');
  await page.goBack();
  await text(page, 'Hello from the script.');
  assert.equal(await count(page, '.row-said'), 1, 'the fork changed where it came from');
});

inWorld('sessions are found, renamed, archived, deleted and brought back', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello zebra');
  await text(page, 'Hello from the script.');
  await page.keyboard.press('Escape');
  await page.getByLabel('Search all sessions').fill('zebra');
  await page.locator('.hit mark').first().waitFor();
  await shoot(page, 'search');
  await page.locator('.hit').first().click();
  await page.waitForURL(/at=\d+|\/s\//);
  await page.getByLabel('Search all sessions').fill('');
  const menu = () => page.locator('.entry-menu').first().click({ force: true });
  await menu();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.locator('.entry input').fill('Stripes');
  await page.keyboard.press('Enter');
  await page.locator('.entry-link', { hasText: 'Stripes' }).waitFor();
  await menu();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await page.locator('.entry-link', { hasText: 'Stripes' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.locator('.entry-link', { hasText: 'Stripes' }).waitFor();
  await menu();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.locator('.entry-link', { hasText: 'Stripes' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await page.locator('.entry-link', { hasText: 'Stripes' }).waitFor();
});

inWorld('every page of the settings can be read by everybody', {}, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/models`);
  const links = page.locator('.settings-nav a');
  await links.first().waitFor();
  for (let index = 0; index < (await links.count()); index += 1) {
    const name = await links.nth(index).innerText();
    await links.nth(index).click();
    await page.locator('.section h2').first().waitFor();
    await page.waitForFunction(() => !document.body.innerText.includes('Loading…'));
    assert.equal(await count(page, '.page [role=alert]'), 0, `${name} failed: ${await page.locator('.page').innerText()}`);
    assert.deepEqual(await barriers(page), [], name);
    await shoot(page, `settings-${name.toLowerCase().replaceAll(' ', '-')}`);
  }
});

inWorld('a theme stays after a reload', {}, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/themes`);
  await page.getByRole('button', { name: 'Ocean' }).click();
  await page.getByRole('button', { name: 'Dark', exact: true }).click();
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await colour();
  assert.equal(before, 'rgb(12, 26, 36)');
  await page.reload();
  await page.getByRole('button', { name: 'Ocean' }).waitFor();
  assert.equal(await colour(), before);
  // The workspace has its own, at once, on every page and after a reload; the app's comes back when it is taken off.
  const rose = 'rgb(29, 21, 25)';
  await page.getByLabel('Theme of this workspace').selectOption('Rose');
  assert.equal(await colour(), rose);
  await page.goto(`${world.origin}/`);
  await say(page, 'hello');
  await page.locator('.row-end').waitFor();
  assert.equal(await colour(), rose);
  await page.goto(`${world.origin}/settings/themes`);
  await page.getByLabel('Theme of this workspace').selectOption('');
  assert.equal(await colour(), before);
});

inWorld('what is allowed for a session is asked again in another, and what is always allowed is not', {}, async (world) => {
  const page = await world.page();
  const note = join(world.workspace, 'note.md');
  const scope = async (name) => {
    await page.getByRole('button', { name: 'Always…' }).click();
    await page.getByRole('menuitem', { name }).waitFor();
    if (name === 'For this session') await shoot(page, 'scopes', { phone: true });
    await page.getByRole('menuitem', { name }).click();
  };
  const written = async (turn) => {
    await page.locator('.row-end').nth(turn).waitFor();
    assert.ok(existsSync(note), 'the note was not written');
    rmSync(note);
  };
  await say(page, 'Please write it.');
  await scope('For this session');
  await written(0);
  await say(page, 'Please write it.');
  await written(1);
  await page.goto(`${world.origin}/`);
  await say(page, 'Please write it.');
  await scope('Always in this workspace');
  await written(0);
  await page.goto(`${world.origin}/`);
  await say(page, 'Please write it.');
  await written(0);
  assert.equal(await count(page, '[data-ask]'), 0);
});

inWorld('everything can be done with the keyboard', {}, async (world) => {
  const page = await world.page();
  await page.locator('[data-composer]').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('Please write it.');
  await page.keyboard.press('Enter');
  await page.locator('[data-ask]').waitFor();
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await page.waitForFunction(() => document.activeElement?.hasAttribute('data-ask'));
  await page.keyboard.press('n');
  await text(page, 'The note is dealt with.');
  await page.keyboard.press('Shift+Tab');
  await page.getByRole('button', { name: 'Mode: Auto' }).waitFor();
  await page.evaluate(() => document.activeElement?.blur());
  await page.keyboard.press(']');
  await page.getByRole('tablist').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to or do' }).waitFor();
  await shoot(page, 'palette');
  assert.deepEqual(await barriers(page), []);
  await page.keyboard.type('themes');
  await page.keyboard.press('Enter');
  await page.waitForURL(/settings\/themes/);
  await page.goBack();
  await text(page, 'The note is dealt with.');
});

inWorld('the end stays in sight when the keyboard of a phone takes half of the screen', {}, async (world) => {
  const page = await world.page({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  await say(page, 'Tell it slowly.');
  await text(page, /look away/);
  await page.locator('.row-end').waitFor({ timeout: 30_000 });
  await say(page, 'Please write it.');
  const yes = page.getByRole('button', { name: /Allow once/ });
  await yes.waitFor();
  const inSight = () => page.waitForFunction(() => {
    const button = document.querySelector('[data-ask] .primary').getBoundingClientRect();
    return button.bottom <= document.querySelector('.composer-area').getBoundingClientRect().top;
  });
  await inSight();
  await page.setViewportSize({ width: 390, height: 520 });
  await inSight();
});

inWorld('it fits a phone', {}, async (world) => {
  const page = await world.page({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  await say(page, 'Please use tools.');
  await text(page, 'The files say');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `the page is ${wide} px wide`);
  await shoot(page, 'phone-session');
  assert.deepEqual(await barriers(page), []);
  await page.locator('.header').getByRole('button', { name: 'Sessions' }).click();
  await page.locator('.sheet .entry').first().waitFor();
  await shoot(page, 'phone-list');
  assert.deepEqual(await barriers(page), []);
  for (const place of ['/', '/settings/models', '/settings/statuses', '/knowledge', '/research', '/waiting']) {
    await page.goto(`${world.origin}${place}`);
    await page.locator('.main h1').waitFor();
    const sizes = await page.evaluate(() => [document.documentElement.scrollWidth, ...['.rail', '.main'].map((part) => document.querySelector(part).getBoundingClientRect().width)]);
    assert.deepEqual(sizes, [390, 390, 390], place);
  }
});

inWorld('a message is edited and tried again in a fork', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  await say(page, 'Please use tols.');
  await page.locator('.row-end').nth(1).waitFor();
  const first = page.url();
  await page.locator('.said').last().hover();
  await page.getByRole('button', { name: 'Edit and try again in a fork' }).last().click();
  await page.waitForURL((url) => url.href !== first && url.pathname.startsWith('/s/'));
  await text(page, 'Hello from the script.');
  const box = page.locator('[data-composer]');
  assert.equal(await box.inputValue(), 'Please use tols.');
  await box.fill('Please use tools.');
  await box.press('Enter');
  await text(page, 'The files say');
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['hello', 'Please use tools.']);
});

inWorld('a message is tried again in a fork as it was', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  const first = page.url();
  await page.locator('.said').hover();
  await page.getByRole('button', { name: 'Try again in a fork', exact: true }).click();
  await page.waitForURL((url) => url.href !== first && url.pathname.startsWith('/s/'));
  await page.locator('.row-end').waitFor();
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['hello']);
  await page.goBack();
  await text(page, 'Hello from the script.');
  assert.equal(await count(page, '.row-said'), 1, 'the session it came from changed');
});

inWorld('diagrams and formulas are drawn, and prices stay prices', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please draw it.');
  await page.locator('.diagram img').evaluate((image) => image.decode());
  const width = await page.locator('.diagram img').evaluate((image) => image.getBoundingClientRect().width);
  assert.ok(width > 120 && width < 400, `two boxes are drawn ${width} px wide`);
  await page.locator('.formula.block math').waitFor();
  assert.equal(await count(page, '.formula math'), 2);
  await text(page, /It costs \$3 and/);
  await idle(page);
  await shoot(page, 'drawn', { phone: true });
  assert.deepEqual(await barriers(page), []);
});

inWorld('a slow link shows how far it is', {}, async (world) => {
  const page = await world.page();
  await page.locator('[data-composer]').waitFor();
  const link = await page.context().newCDPSession(page);
  const slow = (bytes) => link.send('Network.emulateNetworkConditions', { offline: false, latency: 200, downloadThroughput: bytes, uploadThroughput: bytes });
  await link.send('Network.enable');
  await slow(40_000);
  await page.locator('input[type=file]').setInputFiles({ name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.alloc(200_000, 'words ') });
  const bar = page.getByRole('progressbar', { name: 'Sending large.txt' });
  await bar.waitFor();
  assert.ok(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled(), 'a half-sent file could be sent off');
  await page.waitForFunction(() => Number(document.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')) > 10);
  await shoot(page, 'uploading');
  assert.deepEqual(await barriers(page), []);
  await slow(-1);
  await bar.waitFor({ state: 'detached', timeout: 30_000 });
  await say(page, 'hello with a file');
  await text(page, 'Hello from the script.');
  // The page itself: what there is shows at once, and says that it is on its way.
  await link.send('Network.setCacheDisabled', { cacheDisabled: true });
  await slow(60_000);
  const loading = page.reload({ waitUntil: 'commit' });
  await page.getByText('Loading Weft…').waitFor();
  await slow(-1);
  await loading;
  await text(page, 'Hello from the script.');
});

inWorld('pictures come by paste, files complete after @, and a secret is not sent unasked', {}, async (world) => {
  const page = await world.page();
  const box = page.locator('[data-composer]');
  await box.waitFor();
  await box.evaluate((field) => {
    const bytes = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='), (letter) => letter.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], 'dot.png', { type: 'image/png' }));
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.locator('.attached .pill').waitFor();
  await box.pressSequentially('look at @b.t');
  await page.getByRole('option', { name: /b\.txt/ }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await box.inputValue(), 'look at @b.txt ');
  await box.press('Enter');
  await page.locator('.said .pictures img').waitFor();
  await text(page, 'Hello from the script.');
  await say(page, 'my key is sk-ant-api03-' + 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY'.repeat(3) + '-AA');
  await text(page, 'It was not sent.');
  await page.getByRole('button', { name: 'Send without it' }).click();
  await page.locator('.row-end').nth(1).waitFor();
  assert.doesNotMatch(await page.locator('.transcript').innerText(), /aB3dE5fG7hJ9kL1mN2pQ4rS6/);
});

inWorld('a tab from before an upgrade is told to load again', {}, async (world) => {
  const page = await world.page();
  await page.locator('[data-composer]').waitFor();
  await page.route('**/api/v1/**', async (route) => {
    // Node does not lead the server's own name to this machine everywhere, so it asks as a program does.
    const url = route.request().url().replace(world.origin, `http://127.0.0.1:${world.port}`);
    const authorization = `Bearer ${new URL(world.url).searchParams.get('token')}`;
    const response = await route.fetch({ url, headers: { ...route.request().headers(), authorization } });
    await route.fulfill({ response, headers: { ...response.headers(), 'x-weft-version': '99.0.0' } });
  });
  await page.locator('.rail').getByRole('link', { name: 'Settings' }).click();
  await page.locator('.settings-nav').getByRole('link', { name: 'Usage' }).click();
  await text(page, 'Weft was upgraded.');
});

inWorld('nothing jumps while a page loads or an answer comes', {}, async (world) => {
  const page = await world.page();
  await page.addInitScript(() => {
    window.jumps = [];
    new PerformanceObserver((list) => window.jumps.push(...list.getEntries().filter((entry) => !entry.hadRecentInput).map((entry) => entry.value))).observe({ type: 'layout-shift', buffered: true });
  });
  const still = async (place) => {
    await page.waitForTimeout(600);
    const jumped = await page.evaluate(() => window.jumps.reduce((sum, one) => sum + one, 0));
    assert.ok(jumped < 0.01, `${place} jumps by ${jumped}`);
  };
  await page.goto(`${world.origin}/`);
  await page.locator('[data-composer]').waitFor();
  await still('the start');
  await say(page, 'Please use tools.');
  await page.locator('.row-end').waitFor();
  await still('an answer');
  await page.reload();
  await page.locator('.row-end').waitFor();
  await still('a session');
  for (const place of ['research', 'knowledge', 'waiting', 'settings/models', 'settings/permissions', 'settings/usage', 'settings/audit']) {
    await page.goto(`${world.origin}/${place}`);
    await page.locator('h1').waitFor();
    await still(place);
  }
});

inWorld('an address that leads nowhere says so', {}, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/s/000000000000`);
  await text(page, 'No such session');
  await page.goto(`${world.origin}/nowhere/at/all`);
  await text(page, 'No such page');
});

const EVIL_AGENT = { '.weft/agents/evil/AGENT.md': '---\nname: evil\ndescription: "<img src=x onerror=window.hacked = 11>"\n---\nYou are evil.\n' };

inWorld('hostile words in questions, forms, plans, outputs and settings stay words', { mode: 'auto' }, async (world) => {
  const page = await world.page();
  await say(page, 'wicked, please');
  const card = page.locator('[data-ask]');
  await card.getByRole('button', { name: 'onerror="window.hacked = 24"' }).waitFor();
  await card.getByText('onerror="window.hacked = 23"').waitFor();
  for (const number of [20, 21]) await page.getByText(`window.hacked = ${number}`).first().waitFor();
  await page.goto(`${world.origin}/waiting`);
  await card.getByRole('button', { name: 'Neither' }).click();
  await card.getByLabel(/window\.hacked = 27/).fill('fine');
  await card.getByText('window.hacked = 28').waitFor();
  await card.getByRole('button', { name: 'Send' }).click();
  await text(page, 'Nothing waits for you.');
  await page.goBack();
  await text(page, 'All is said.');
  await page.getByRole('button', { name: /Thought/ }).click();
  await page.getByText('window.hacked = 29').first().waitFor();
  await page.getByRole('button', { name: 'Panel', exact: true }).click();
  for (const [tab, number] of [['Plan', 20], ['Trace', 25], ['Context', 20]]) {
    await page.getByRole('tab', { name: tab }).click();
    await page.locator('.panel-body', { hasText: `window.hacked = ${number}` }).waitFor();
  }
  // What a person adds themselves, perhaps copied from somewhere: hooks and sources.
  const evil = '<img src=x onerror="window.hacked = 30">';
  const { hooks_version: version } = await world.api('settings');
  await world.api('settings/hooks', { method: 'PUT', body: JSON.stringify({ hooks: [{ on: 'after_prompt', command: evil }], version }) });
  await world.api('sources', { method: 'POST', body: JSON.stringify({ name: 'evil', command: [evil] }) });
  for (const place of ['hooks', 'sources', 'audit']) {
    await page.goto(`${world.origin}/settings/${place}`);
    await page.getByText('window.hacked = 30').first().waitFor();
  }
  await page.goto(`${world.origin}/knowledge?q=${encodeURIComponent(evil)}`);
  await page.getByRole('searchbox').waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await count(page, 'img[src=x]'), 0);
});

inWorld('hostile words stay words', { mode: 'auto', files: EVIL_AGENT }, async (world) => {
  const page = await world.page();
  await say(page, 'hostile <img src=x onerror="window.hacked = 9"> please');
  await page.locator('.row-end').waitFor();
  await page.getByRole('button', { name: 'Panel', exact: true }).click();
  for (const tab of ['Trace', 'Files', 'Context']) {
    await page.getByRole('tab', { name: tab }).click();
    await page.waitForTimeout(300);
  }
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await count(page, '.transcript script, .transcript .answer img[src^=http]'), 0);
  // Everything that people, agents and files name: titles, labels, statuses, agents, what a search finds.
  const evil = '<img src=x onerror="window.hacked = 10">';
  const id = new URL(page.url()).pathname.split('/').pop();
  const { statuses } = await world.api('views');
  await world.api('views', { method: 'PUT', body: JSON.stringify({ views: [{ name: evil, view: 'inbox' }], statuses: [...statuses, { name: evil, category: 'open', icon: 'star', colour: statuses[0].colour }] }) });
  await world.api(`sessions/${id}`, { method: 'PATCH', body: JSON.stringify({ title: evil, labels: [evil], flag: evil }) });
  await page.goto(`${world.origin}/`);
  await page.locator('.entry', { hasText: evil }).waitFor();
  await page.getByRole('button', { name: 'Views and filters' }).click();
  await page.getByRole('menuitem').filter({ hasText: evil }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Search all sessions').fill('hostile');
  await page.locator('.hit', { hasText: evil }).first().waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('onerror');
  await page.getByRole('option').filter({ hasText: evil }).first().waitFor();
  for (const place of ['statuses', 'agents', 'audit', 'usage']) {
    await page.goto(`${world.origin}/settings/${place}`);
    await page.locator('.section h2').first().waitFor();
    await page.waitForFunction(() => !globalThis.document.body.innerText.includes('Loading…'));
    if (place === 'agents') await page.getByText('window.hacked = 11').waitFor();
  }
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await count(page, 'img[src=x]'), 0);
});
