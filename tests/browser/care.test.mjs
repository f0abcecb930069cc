// What must not be lost, doubled or left unsaid between a person and the page.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, closeBrowser, count, idle, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);
const DOT = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const SECRET = `sk-ant-api03-${'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY'.repeat(3)}-AA`;
const attach = async (page) => {
  await page.locator('input[type=file]').setInputFiles([{ name: 'dot.png', mimeType: 'image/png', buffer: DOT }, { name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('milk and bread') }]);
  await page.locator('.attached .pill').nth(1).waitFor();
  await page.waitForFunction(() => !document.querySelector('[role=progressbar]'));
};

inWorld('who is not signed in any more is told so, and goes on when they are', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  await page.context().clearCookies();
  await say(page, 'once more');
  const banner = page.locator('.banner', { hasText: 'not signed in any more' });
  await banner.waitFor();
  assert.equal(await page.locator('[data-composer]').inputValue(), 'once more', 'what was typed is lost');
  await shoot(page, 'signed-out', { phone: true });
  assert.deepEqual(await barriers(page), []);
  const again = await page.context().newPage();
  await again.goto(world.url);
  await again.waitForURL((url) => !url.searchParams.has('token'));
  await page.locator('[data-composer]').press('Enter');
  await banner.waitFor({ state: 'detached' });
  await page.locator('.row-end').nth(1).waitFor();
});

inWorld('words whose answer was lost are not said twice, and the same words later are said', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await page.locator('.row-end').waitFor();
  // The server hears it, and its answer is lost on the way.
  const authorization = `Bearer ${new URL(world.url).searchParams.get('token')}`;
  await page.route('**/turns', async (route) => {
    await route.fetch({ url: route.request().url().replace(world.origin, `http://127.0.0.1:${world.port}`), headers: { 'content-type': 'application/json', authorization } });
    await route.abort('connectionreset');
  });
  const box = page.locator('[data-composer]');
  await say(page, 'go on');
  await page.locator('.row-end').nth(1).waitFor();
  await page.waitForFunction(() => document.querySelector('[data-composer]').value === '');
  await page.unroute('**/turns');
  await say(page, 'go on');
  await page.locator('.row-end').nth(2).waitFor();
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['hello', 'go on', 'go on']);
  assert.equal(await box.inputValue(), '');
});

inWorld('a message that is tried again when no answer came is said in one copy, once', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await page.locator('.row-end').waitFor();
  await say(page, 'use tools');
  await page.locator('.row-end').nth(1).waitFor();
  const before = page.url();
  const answersLost = async (path) => {
    const authorization = `Bearer ${new URL(world.url).searchParams.get('token')}`;
    await page.route(path, async (route) => {
      await route.fetch({ url: route.request().url().replace(world.origin, `http://127.0.0.1:${world.port}`), headers: { 'content-type': 'application/json', authorization } });
      await route.abort('connectionreset');
    });
  };
  const again = async () => {
    await page.locator('.said').nth(1).hover();
    await page.locator('.said').nth(1).getByRole('button', { name: 'Try again in a fork', exact: true }).click();
  };
  const lost = () => page.locator('.toast', { hasText: 'Weft does not answer' }).first();
  // First the copy is made and nobody hears of it, then the words are said in it and nobody hears of that.
  for (const path of ['**/fork', '**/turns']) {
    await answersLost(path);
    await again();
    await lost().waitFor();
    await lost().getByRole('button', { name: 'Dismiss' }).click();
    await page.unroute(path);
  }
  await again();
  await page.waitForURL((url) => url.href !== before);
  await page.locator('.row-end').nth(1).waitFor();
  await idle(page);
  assert.deepEqual(await page.locator('.said-words').allInnerTexts(), ['hello', 'use tools']);
  assert.equal((await world.api('sessions')).sessions.length, 2, 'a copy is left over');
});

inWorld('what is attached goes with one message only, and comes along when that is edited', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  await idle(page);
  await attach(page);
  // The answer takes its time, and somebody presses Enter twice.
  await page.route('**/turns', async (route) => {
    await new Promise((done) => setTimeout(done, 400));
    await route.continue();
  });
  const box = page.locator('[data-composer]');
  await box.fill('look at this');
  await box.press('Enter');
  await box.press('Enter');
  await page.locator('.row-end').nth(1).waitFor();
  await idle(page);
  assert.equal(await count(page, '.said'), 2, 'it was sent twice');
  assert.equal(await count(page, '.said .pictures img'), 1);
  await page.unroute('**/turns');
  const first = page.url();
  await page.locator('.said').last().hover();
  await page.getByRole('button', { name: 'Edit and try again in a fork' }).last().click();
  await page.waitForURL((url) => url.href !== first && url.pathname.startsWith('/s/'));
  await page.locator('.attached .pill img').waitFor();
  await page.locator('.attached .pill', { hasText: 'list.txt' }).waitFor();
  assert.equal(await box.inputValue(), 'look at this', 'a file was poured into the box');
  await box.fill('look at this again');
  await box.press('Enter');
  await page.locator('.row-end').nth(1).waitFor();
  assert.equal(await count(page, '.said .pictures img'), 1, 'the picture was left behind');
  // A file is named, and opens.
  await page.locator('.said-file summary', { hasText: 'list.txt' }).click();
  await page.locator('.said-file .output', { hasText: /^milk and bread$/ }).waitFor();
  await shoot(page, 'attached', { phone: true });
  assert.deepEqual(await barriers(page), []);
});

inWorld('a first message with a secret waits for a word', {}, async (world) => {
  const page = await world.page();
  await say(page, `hello, my key is ${SECRET}`);
  await text(page, 'It was not sent.');
  await shoot(page, 'secret-at-start', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: 'Send without it' }).click();
  await text(page, 'Hello from the script.');
  assert.doesNotMatch(await page.locator('.transcript').innerText(), /aB3dE5fG7hJ9kL1mN2pQ4rS6/);
});

inWorld('an answer with a secret waits for a word', {}, async (world) => {
  const page = await world.page();
  await say(page, 'ask me');
  const card = page.locator('.transcript .ask');
  const answer = card.getByRole('textbox', { name: 'Your answer' });
  const strip = card.getByRole('alert');
  await answer.fill(SECRET);
  await answer.press('Enter');
  await strip.getByText('It was not sent.').waitFor();
  await shoot(page, 'secret-in-answer', { phone: true });
  assert.deepEqual(await barriers(page), []);
  // What waits is the answer as it was; another one is sent for itself.
  await answer.press('End');
  await answer.pressSequentially('!');
  await strip.waitFor({ state: 'detached' });
  await answer.press('Enter');
  await strip.getByRole('button', { name: 'Edit' }).click();
  await strip.waitFor({ state: 'detached' });
  assert.equal(await answer.inputValue(), `${SECRET}!`, 'what was typed is lost');
  await answer.press('Enter');
  await strip.getByRole('button', { name: 'Send anyway' }).click();
  await text(page, 'Noted.');
});

inWorld('turns are taken back one after the other, the latest first', { mode: 'auto' }, async (world) => {
  const page = await world.page();
  const plan = join(world.workspace, 'plan.md');
  await say(page, 'Please make a plan.');
  await text(page, 'The plan is there.');
  await idle(page);
  await say(page, 'Now change the plan.');
  await text(page, 'The plan is another.');
  await idle(page);
  await page.goto(`${page.url().split('?')[0]}?panel=files`);
  await page.getByRole('button', { name: 'Undo turn 2' }).click();
  await page.getByRole('button', { name: 'Undo turn 1' }).waitFor();
  assert.match(readFileSync(plan, 'utf8'), /First \*\*one\*\*/);
  // From the turn itself too.
  await page.locator('.row-end').first().hover();
  await page.getByRole('button', { name: 'Undo the files of this turn' }).click();
  await text(page, 'Took back');
  await page.getByRole('button', { name: 'Undo turn 1' }).waitFor({ state: 'detached' });
  assert.ok(!existsSync(plan));
});

inWorld('a letter beside a form does not throw it away, and one beside an approval answers it', {}, async (world) => {
  const page = await world.page();
  await say(page, 'Please fill in the form.');
  const form = page.locator('[data-ask]');
  await form.getByLabel('Name').fill('Ada');
  await form.getByRole('button', { name: /^(Send|Answer)/ }).focus();
  await page.keyboard.press('n');
  await page.waitForTimeout(300);
  assert.equal(await form.getByLabel('Name').inputValue(), 'Ada');
  await page.goto(`${world.origin}/`);
  await say(page, 'Please write it.');
  const ask = page.locator('[data-ask]');
  // What a yes leads to is said before it is given.
  await ask.getByText('Changes 1 file in this project. You can take it back.').waitFor();
  await ask.getByRole('button', { name: 'Always…' }).press('Enter');
  await page.getByRole('menu').waitFor();
  await page.keyboard.press('n');
  await page.waitForTimeout(300);
  assert.equal(await count(page, '[data-ask]'), 1, 'a letter in the menu answered');
  await page.keyboard.press('Escape');
  await ask.focus();
  await page.keyboard.press('n');
  await ask.waitFor({ state: 'detached' });
});

inWorld('a drawing whose code cannot be had is shown as its source', {}, async (world) => {
  const page = await world.page();
  await page.route('**/assets/Diagram*', (route) => route.fulfill({ status: 404, body: '' }));
  await say(page, 'Please draw it.');
  await page.locator('pre.code-block', { hasText: 'Start-->End' }).waitFor();
  await page.locator('.formula.block math').waitFor();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  world.complaints = world.complaints.filter((words) => !/Diagram/.test(words));
});

inWorld('a page that comes over a slow link says that it comes, and another model and folder can be named', {}, async (world) => {
  const page = await world.page();
  await page.locator('[data-composer]').waitFor();
  let free;
  const held = new Promise((done) => (free = done));
  await page.route('**/assets/KnowledgePage*', async (route) => {
    await held;
    await route.continue();
  });
  await page.locator('.rail').getByRole('link', { name: 'Knowledge' }).click();
  await page.locator('main [role=status]', { hasText: 'Loading…' }).waitFor();
  free();
  await page.getByRole('heading', { name: /Knowledge/ }).first().waitFor();
  await page.goto(`${world.origin}/`);
  await page.getByRole('button', { name: /^Model:/ }).click();
  await page.getByRole('menuitem', { name: 'Another model…' }).click();
  await page.getByRole('dialog').getByRole('textbox').fill('ollama/qwen3-coder');
  await page.getByRole('dialog').getByRole('button', { name: 'Choose' }).click();
  await page.getByRole('button', { name: 'Model: ollama/qwen3-coder' }).waitFor();
  await page.getByLabel('in', { exact: true }).selectOption({ label: 'Another folder…' });
  await page.getByRole('dialog').getByRole('textbox').fill('/tmp');
  await page.getByRole('dialog').getByRole('button', { name: 'Choose' }).click();
  assert.equal(await page.getByLabel('in', { exact: true }).inputValue(), '/tmp');
});
