// What sessions make, forms, the person's own order among sessions, and who gets in.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, closeBrowser, count, idle, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);
const panel = async (page, tab) => {
  if ((await count(page, '[role=tablist]')) === 0) await page.getByRole('button', { name: 'Panel', exact: true }).click();
  await page.getByRole('tab', { name: tab }).click();
};

inWorld('what a session made is there with its versions, and a single file is taken back', { mode: 'auto' }, async (world) => {
  const page = await world.page();
  await say(page, 'Please make a plan.');
  await text(page, 'The plan is there.');
  await idle(page);
  await say(page, 'Please change the plan.');
  await text(page, 'The plan is another.');
  await idle(page);
  await panel(page, 'Artifacts');
  await page.locator('.artifact', { hasText: 'plan.md' }).waitFor();
  assert.equal(await count(page, '.artifact'), 3);
  await shoot(page, 'artifacts', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await page.locator('.artifact', { hasText: /plan\.md.*2 versions/ }).click();
  await page.locator('.artifact-page').getByRole('heading', { name: 'The plan' }).waitFor();
  assert.equal(await page.locator('.artifact-page .answer strong').innerText(), 'another');
  await shoot(page, 'artifact', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await page.getByLabel('Version').selectOption({ index: 0 });
  await page.locator('.artifact-page .answer strong', { hasText: 'one' }).waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()]);
  assert.equal(download.suggestedFilename(), 'plan.md');
  assert.match(readFileSync(await download.path(), 'utf8'), /First \*\*one\*\* thing/);
  await page.getByRole('button', { name: 'All artifacts' }).click();
  await page.locator('.artifact', { hasText: 'drawing.svg' }).click();
  await page.locator('.artifact-image').evaluate((image) => image.decode());
  assert.equal(await page.evaluate(() => window.hacked), undefined);

  await panel(page, 'Files');
  const file = page.locator('.panel-body .diff-file', { hasText: 'plan.md' });
  await file.getByRole('button', { name: 'Undo this file' }).click();
  await text(page, /Took back a single file: plan\.md/);
  await file.waitFor({ state: 'detached' });
  assert.ok(!existsSync(join(world.workspace, 'plan.md')) && existsSync(join(world.workspace, 'numbers.csv')));
  await page.getByRole('button', { name: 'Redo' }).first().click();
  await file.waitFor();
  assert.match(readFileSync(join(world.workspace, 'plan.md'), 'utf8'), /another/);
});

inWorld('a form is filled in, checked field by field, and sent as one answer', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please fill in the form.');
  const card = page.locator('[data-ask]');
  await card.waitFor();
  await shoot(page, 'form', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await card.getByRole('button', { name: 'Send' }).click();
  assert.equal(await card.getByRole('alert').count(), 2);
  assert.ok(await page.evaluate(() => document.activeElement?.matches('[data-field="0"]')), 'the first wrong field has the focus');
  await card.getByLabel('Name').fill('Ada Lovelace');
  await card.getByLabel('Copies').fill('12');
  await card.getByLabel(/Mail address/).fill('nobody');
  await card.getByRole('button', { name: 'Send' }).click();
  await card.getByText('At most 9.').waitFor();
  await card.getByText('This is no mail address.').waitFor();
  await shoot(page, 'form-wrong');
  assert.deepEqual(await barriers(page), []);
  await card.getByLabel('Copies').fill('3');
  await card.getByLabel(/Mail address/).fill('ada@example.org');
  await card.getByRole('button', { name: 'Letter' }).click();
  await card.getByLabel('Send it today').check();
  await card.getByRole('button', { name: 'Send' }).click();
  await text(page, 'The form is noted.');
  const session = page.url().split('/s/')[1].split('?')[0];
  const { events } = await world.api(`sessions/${session}/log`);
  const answered = events.find((event) => event.type === 'ask_answered');
  assert.deepEqual(answered.answer.values, { name: 'Ada Lovelace', copies: 3, mail: 'ada@example.org', paper: 'letter', urgent: true });
});

inWorld('sessions are kept in order with labels in a tree, own statuses and saved views', {}, async (world) => {
  const page = await world.page();
  const ids = [];
  for (const words of ['hello one', 'hello two', 'hello three']) {
    await page.goto(`${world.origin}/`);
    await say(page, words);
    await page.locator('.row-end').waitFor();
    ids.push(new URL(page.url()).pathname.split('/').pop());
  }
  const mark = (id, change) => world.api(`sessions/${id}`, { method: 'PATCH', body: JSON.stringify(change) });
  await mark(ids[0], { labels: ['work'], title: 'One' });
  await mark(ids[1], { labels: ['work/urgent'], title: 'Two' });
  await mark(ids[2], { labels: ['home'], title: 'Three' });
  await page.reload();
  const filter = () => page.getByRole('button', { name: 'Views and filters' }).click();
  const entries = (number) => page.waitForFunction((wanted) => document.querySelectorAll('.list .entry-link').length === wanted, number);
  await filter();
  await shoot(page, 'filter', { phone: false });
  await page.getByRole('menuitem', { name: /^work 2/ }).click();
  await entries(2);
  await filter();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByRole('textbox', { name: 'Save this view' }).fill('My work');
  await page.keyboard.press('Enter');
  await page.locator('.filters .pill', { hasText: 'My work' }).waitFor();
  await page.getByRole('button', { name: 'Show all sessions' }).click();
  await entries(3);

  // Statuses have a category, an icon, a colour and a key; labels a colour, which those below them share.
  await filter();
  await page.getByRole('menuitem', { name: 'Edit statuses and colours…' }).click();
  await page.waitForURL(/settings\/statuses/);
  await page.getByRole('button', { name: 'Add a status' }).click();
  const name = page.getByLabel('Name of New status');
  await name.fill('Shipped');
  await name.press('Enter');
  await page.getByLabel('Category of Shipped').selectOption('Closed');
  await page.getByLabel('Icon of Shipped').selectOption('Star');
  await page.getByLabel('Colour of Shipped', { exact: true }).selectOption('Violet');
  await page.getByLabel('Key of Shipped').fill('x');
  await page.getByLabel('Key of Shipped').press('Enter');
  await page.getByLabel('Colour of work', { exact: true }).selectOption('Red');
  await page.waitForFunction(() => fetch('/api/v1/views').then((response) => response.json()).then(({ statuses, colours }) => statuses.at(-1).shortcut === 'x' && colours.work?.light === '#b3261e'), undefined, { polling: 200 });
  await shoot(page, 'settings-statuses', { phone: true });
  assert.deepEqual(await barriers(page), []);
  const { statuses } = await world.api('views');
  assert.deepEqual(statuses.at(-1), { name: 'Shipped', category: 'closed', icon: 'star', colour: { light: '#6a43b5', dark: '#b79df0' }, shortcut: 'x' });
  // A key that is taken is not taken again.
  await page.getByLabel('Key of Todo').fill('x');
  await page.getByLabel('Key of Todo').press('Enter');
  await text(page, 'Two statuses have the same shortcut.');
  await page.goto(`${world.origin}/s/${ids[2]}`);
  await page.locator('.row-end').waitFor();
  const dot = page.locator('.entry', { hasText: 'Two' }).locator('.pill', { hasText: 'work/urgent' }).locator('.label-dot');
  assert.equal(await dot.evaluate((mark) => getComputedStyle(mark).backgroundColor), 'rgb(179, 38, 30)');
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  const drawn = await dot.elementHandle();
  await page.waitForFunction((mark) => getComputedStyle(mark).backgroundColor === 'rgb(242, 139, 130)', drawn);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.locator('.entry', { hasText: 'Three' }).locator('.entry-menu').click({ force: true });
  await page.getByRole('menuitem', { name: /Status/ }).click();
  await page.getByRole('menuitem', { name: 'Shipped' }).click();
  await page.locator('.entry.closed', { hasText: 'Shipped' }).waitFor();
  await shoot(page, 'statuses', { phone: true });
  await filter();
  await page.getByRole('menuitem', { name: 'Closed' }).click();
  await entries(1);
  await filter();
  await page.getByRole('menuitem', { name: 'Open', exact: true }).click();
  await entries(2);
  await page.getByRole('button', { name: 'Show all sessions' }).click();
  // A session follows its status to a new name, and loses it where one says so.
  await page.goto(`${world.origin}/settings/statuses`);
  await page.getByLabel('Name of Shipped').fill('Delivered');
  await page.getByLabel('Name of Shipped').press('Enter');
  await page.getByLabel('Name of Delivered').waitFor();
  await page.goto(`${world.origin}/s/${ids[2]}`);
  await page.locator('.entry.closed', { hasText: 'Delivered' }).waitFor();
  // Another browser finds the same views and words.
  const other = await world.page();
  await other.getByRole('button', { name: 'Views and filters' }).click();
  await other.getByRole('menuitem', { name: 'Delivered' }).click();
  await other.waitForFunction(() => document.querySelectorAll('.list .entry-link').length === 1);
  await other.getByRole('button', { name: 'Views and filters' }).click();
  await other.getByRole('menuitem', { name: 'My work' }).waitFor();
  await page.locator('.entry', { hasText: 'Three' }).locator('.entry-menu').click({ force: true });
  await page.getByRole('menuitem', { name: /Status/ }).click();
  await page.getByRole('menuitem', { name: 'None' }).click();
  await page.locator('.entry', { hasText: 'Delivered' }).waitFor({ state: 'detached' });
});

inWorld('a session gets a label by what is said in it', {}, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/statuses`);
  await page.getByLabel('What is said', { exact: true }).fill('hello*zebra');
  await page.getByLabel('Label for it').fill('animals/striped');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('gives animals/striped').waitFor();
  await shoot(page, 'settings-auto-labels', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await page.goto(`${world.origin}/`);
  await say(page, 'Hello to the Zebra');
  await page.locator('.entry.current .pill', { hasText: 'animals/striped' }).waitFor();
  // It is only added: what a person gave stays, and other words give none.
  const id = new URL(page.url()).pathname.split('/').pop();
  await world.api(`sessions/${id}`, { method: 'PATCH', body: JSON.stringify({ labels: ['mine'] }) });
  await page.locator('.row-end').waitFor();
  await say(page, 'hello, dear zebra');
  await page.locator('.row-end').nth(1).waitFor();
  assert.deepEqual((await world.api(`sessions/${id}`)).labels, ['mine', 'animals/striped']);
  const other = await world.api('sessions', { method: 'POST', body: JSON.stringify({ content: [{ type: 'text', text: 'zebra, hello' }] }) });
  assert.deepEqual((await world.api(`sessions/${other.id}`)).labels, []);
  await page.goto(`${world.origin}/settings/statuses`);
  await page.getByRole('button', { name: 'Remove hello*zebra' }).click();
  await page.getByText('gives animals/striped').waitFor({ state: 'detached' });
  assert.deepEqual((await world.api('views')).auto_labels, []);
});

inWorld('a view is an expression, and a wrong one says what is wrong', {}, async (world) => {
  const page = await world.page();
  for (const words of ['hello one', 'hello two', 'hello three']) {
    await page.goto(`${world.origin}/`);
    await say(page, words);
    await page.locator('.row-end').waitFor();
    const id = new URL(page.url()).pathname.split('/').pop();
    await world.api(`sessions/${id}`, { method: 'PATCH', body: JSON.stringify({ title: words, labels: words.endsWith('two') ? ['work/urgent'] : [] }) });
  }
  const entries = (number) => page.waitForFunction((wanted) => document.querySelectorAll('.list .entry-link').length === wanted, number);
  const where = async (expression) => {
    await page.getByRole('button', { name: 'Views and filters' }).click();
    await page.getByRole('menuitem', { name: 'Show where…' }).click();
    await page.getByRole('textbox', { name: 'Show sessions where' }).fill(expression);
    await page.keyboard.press('Enter');
  };
  await where('label == work or title contains "three"');
  await entries(2);
  await shoot(page, 'expression');
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: 'Views and filters' }).click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByRole('textbox', { name: 'Save this view' }).fill('Urgent ones');
  await page.keyboard.press('Enter');
  await page.locator('.filters .pill', { hasText: 'Urgent ones' }).waitFor();
  // What changes comes into the view and leaves it.
  const { sessions } = await world.api('sessions');
  const one = sessions.find((row) => row.title === 'hello one');
  await world.api(`sessions/${one.id}`, { method: 'PATCH', body: JSON.stringify({ labels: ['work'] }) });
  await entries(3);
  await where('colour == red');
  await text(page, /nothing is called `colour`; there are title/);
  assert.equal(await count(page, '.list .entry-link'), 0);
});

inWorld('settings take effect at once, and a backup is made from them and restored', {}, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/storage`);
  await page.getByRole('button', { name: 'Back up now' }).click();
  await text(page, 'Backup made and checked.');
  await page.locator('td code', { hasText: /^weft-\d+-\d+\.db$/ }).waitFor();
  await shoot(page, 'settings-backups', { phone: true });
  assert.deepEqual(await barriers(page), []);
  // A session that begins after it is gone when one goes back to it, and the page goes on by itself.
  await page.goto(`${world.origin}/`);
  await say(page, 'hello, too late');
  await page.locator('.row-end').waitFor();
  await page.goto(`${world.origin}/settings/storage`);
  await page.getByRole('button', { name: 'Go back to it…' }).click();
  await shoot(page, 'go-back');
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: 'Go back', exact: true }).click();
  await text(page, 'Weft starts again with this backup.');
  await page.waitForFunction(() => fetch('/api/v1/sessions').then((response) => response.json()).then(({ counts }) => counts.total === 0, () => false), undefined, { polling: 300 });
  await page.locator('.rail').getByRole('link', { name: 'Sessions' }).click();
  await text(page, 'No sessions yet.');
  await page.goto(`${world.origin}/settings/permissions`);
  await page.getByLabel('Mode', { exact: true }).selectOption('safe');
  await text(page, 'Saved: Mode.');
  await page.getByLabel(/Needs no question/).fill('write **');
  await page.locator('form.setting', { has: page.getByLabel(/Needs no question/) }).getByRole('button', { name: 'Save' }).click();
  await text(page, 'Saved: Needs no question.');
  const kept = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok());
  await page.getByLabel('Mode', { exact: true }).selectOption('ask');
  await kept;
  await page.goto(`${world.origin}/`);
  // The rule that was just saved lets it through without a question.
  await say(page, 'Please write it.');
  await text(page, 'The note is dealt with.');
  assert.equal(await count(page, '[data-ask]'), 0);
  assert.ok(existsSync(join(world.workspace, 'note.md')));
});

inWorld('the trace shows deltas while they come, where wanted', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Tell it slowly.');
  await panel(page, 'Trace');
  await page.getByRole('button', { name: 'Deltas' }).click();
  await page.getByRole('log', { name: 'Deltas' }).getByText(/text/).first().waitFor();
  await shoot(page, 'deltas');
  assert.deepEqual(await barriers(page), []);
});

inWorld('another server of this machine neither gets the cookie nor does its page get in', {}, async (world) => {
  const page = await world.page();
  await page.locator('[data-composer]').waitFor();
  assert.match(page.url(), /^http:\/\/weft-[0-9a-f]+\.localhost:/);
  const heard = [];
  const other = createServer((request, response) => {
    heard.push(request.headers.cookie ?? '');
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Other</title><p>Another server</p>');
  });
  await new Promise((done) => other.listen(0, '127.0.0.1', done));
  const port = other.address().port;
  try {
    for (const name of ['127.0.0.1', 'localhost']) {
      const elsewhere = await page.context().newPage();
      await elsewhere.goto(`http://${name}:${port}/`);
      const answers = await elsewhere.evaluate(async (origins) => {
        const answers = [];
        for (const origin of origins) {
          answers.push(await fetch(`${origin}/api/v1/sessions`, { credentials: 'include' }).then((response) => response.status, () => 'refused'));
          answers.push(await fetch(`${origin}/api/v1/sessions`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }).then((response) => response.type, () => 'refused'));
        }
        return answers;
      }, [world.origin, `http://127.0.0.1:${world.port}`]);
      assert.ok(answers.every((answer) => answer === 'refused' || answer === 'opaque'), answers.join());
      // Who follows a link from there is still signed in.
      await elsewhere.evaluate((address) => { location.href = address; }, `${world.origin}/settings/about`);
      await elsewhere.getByText(/^Version/).waitFor();
      await elsewhere.close();
    }
    assert.ok(heard.length >= 2 && heard.every((cookie) => !cookie.includes('weft_')), `the cookie went elsewhere: ${heard}`);
    assert.equal((await world.api('sessions')).counts.total, 0, 'a page of another server began a session');
    const plain = await page.context().newPage();
    await plain.goto(`http://127.0.0.1:${world.port}/`);
    await plain.getByText('This Weft is locked').waitFor();
  } finally {
    other.close();
  }
});
