// What goes into a message besides words: files by drop, paste and button, what `/` and `@` become, and what is refused.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { barriers, closeBrowser, count, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Lets files fall on an element, as a hand does: over it first, then let go. */
const drop = async (page, selector, files) => {
  const data = await page.evaluateHandle((given) => {
    const held = new DataTransfer();
    for (const { name, type, words, base64, bytes } of given) {
      const content = base64 ? Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)) : bytes ? new Uint8Array(bytes).fill(120) : words;
      held.items.add(new File([content], name, { type }));
    }
    return held;
  }, files);
  await page.dispatchEvent(selector, 'dragover', { dataTransfer: data });
  await page.dispatchEvent(selector, 'drop', { dataTransfer: data });
};

inWorld('files that are dropped go with the message, wherever on the page they fall', {}, async (world) => {
  const page = await world.page();
  await page.locator('[data-composer]').waitFor();
  await drop(page, '.composer', [{ name: 'list.txt', type: 'text/plain', words: 'milk and bread' }, { name: 'dot.png', type: 'image/png', base64: DOT }]);
  await page.locator('.attached .pill', { hasText: 'list.txt' }).waitFor();
  await page.locator('.attached .pill', { hasText: 'dot.png' }).locator('img').waitFor();
  await page.waitForFunction(() => !document.querySelector('[role=progressbar]'));
  await say(page, 'hello, look at these');
  await text(page, 'Hello from the script.');
  await page.locator('.said .pictures img').waitFor();
  const session = page.url().split('/s/')[1].split('?')[0];
  const { events } = await world.api(`sessions/${session}/log`);
  const said = JSON.stringify(events.find((event) => event.type === 'input_received').content);
  assert.match(said, /milk and bread/);
  assert.match(said, /image\/png/);
  // Beside the box too: a browser would leave the page to show the file.
  await drop(page, '.transcript', [{ name: 'beside.txt', type: 'text/plain', words: 'fell beside' }]);
  await page.locator('.attached .pill', { hasText: 'beside.txt' }).waitFor();
  assert.equal(await count(page, '.attached .pill'), 1);
  await page.getByRole('button', { name: 'Remove beside.txt' }).click();
  assert.equal(await count(page, '.attached .pill'), 0);
});

inWorld('a file that no model takes is refused at once, with a sentence', {}, async (world) => {
  const page = await world.page();
  await page.locator('[data-composer]').waitFor();
  let sent = 0;
  page.on('request', (request) => (sent += Number(request.url().includes('/uploads'))));
  await drop(page, '.composer', [{ name: 'long.txt', type: 'text/plain', bytes: 300 * 1024 }]);
  await text(page, /long\.txt is larger than 256 KB\. Put it into the folder and name it with @/);
  await drop(page, '.composer', [{ name: 'large.png', type: 'image/png', bytes: 6 * 1024 * 1024 }]);
  await text(page, /large\.png is larger than 5 MB/);
  assert.equal(sent, 0, 'it was sent before it was refused');
  await shoot(page, 'refused-file');
  assert.deepEqual(await barriers(page), []);
  // What only its bytes tell is refused by the server, before the message is sent.
  await page.locator('input[type=file]').setInputFiles({ name: 'program.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(2000, 0xff) });
  await text(page, /program\.bin is neither a picture nor text/);
  assert.equal(sent, 1);
  assert.equal(await count(page, '.attached .pill'), 0);
});

inWorld('an upload that breaks off is told, and what was typed stays', {}, async (world) => {
  const page = await world.page();
  const box = page.locator('[data-composer]');
  await box.fill('look at this');
  await page.route('**/uploads**', (route) => route.abort('connectionreset'));
  await page.locator('input[type=file]').setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('milk') });
  await page.locator('.toast .bad').waitFor();
  await page.locator('.attached .pill').waitFor({ state: 'detached' });
  assert.equal(await box.inputValue(), 'look at this');
  await page.unroute('**/uploads**');
  await page.locator('input[type=file]').setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('milk') });
  await page.waitForFunction(() => !document.querySelector('[role=progressbar]'));
  await box.press('Enter');
  await page.locator('.said-file', { hasText: 'list.txt' }).waitFor();
});

const COMMANDS = {
  'a.txt': 'alpha\n', 'b.txt': 'beta\n',
  '.weft/commands/greet.md': '---\ndescription: Says hello to somebody\narguments: "[NAME]"\n---\nPlease say hello to $ARGUMENTS.\n',
  '.weft/agents/gardener/AGENT.md': '---\nname: gardener\ndescription: Knows plants\n---\nYou know plants.\n',
};

inWorld('a command completes after /, an agent and a file after @', { files: COMMANDS }, async (world) => {
  const page = await world.page();
  const box = page.locator('[data-composer]');
  await box.waitFor();
  await box.pressSequentially('/gre');
  await page.getByRole('option', { name: /greet.*Says hello to somebody/ }).waitFor();
  await shoot(page, 'commands');
  assert.deepEqual(await barriers(page), []);
  await page.keyboard.press('Enter');
  assert.equal(await box.inputValue(), '/greet ');
  assert.equal(await count(page, '[role=option]'), 0);
  await box.pressSequentially('Ada');
  await box.press('Enter');
  await text(page, 'Hello from the script.');
  const session = page.url().split('/s/')[1].split('?')[0];
  const { events } = await world.api(`sessions/${session}/log`);
  const input = events.find((event) => event.type === 'input_received');
  assert.match(JSON.stringify(input.content), /Please say hello to Ada\./);
  assert.equal(await page.locator('.said-words').innerText(), '/greet Ada');
  // In the middle of a sentence a slash is a slash.
  await box.pressSequentially('either /gre');
  await page.waitForTimeout(300);
  assert.equal(await count(page, '[role=option]'), 0);
  await box.fill('');
  await box.pressSequentially('ask @gard');
  await page.getByRole('option', { name: /gardener/ }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await box.inputValue(), 'ask @gardener ');
  await box.pressSequentially('about @');
  await page.getByRole('option', { name: /a\.txt/ }).waitFor();
  const before = await page.locator('[role=option][aria-selected=true]').innerText();
  await page.keyboard.press('ArrowDown');
  assert.notEqual(await page.locator('[role=option][aria-selected=true]').innerText(), before);
  await page.keyboard.press('Escape');
  assert.equal(await count(page, '[role=option]'), 0);
  assert.equal(await box.inputValue(), 'ask @gardener about @');
  // A letter that follows the key at once, before anything is drawn, stands behind what was completed.
  await box.fill('');
  await box.pressSequentially('ask @gard');
  await page.getByRole('option', { name: /gardener/ }).waitFor();
  await box.evaluate((field) => {
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, cancelable: true }));
    document.execCommand('insertText', false, 'now');
  });
  await page.waitForTimeout(100);
  assert.equal(await box.inputValue(), 'ask @gardener now');
  assert.equal(await box.evaluate((field) => field.selectionStart), 'ask @gardener now'.length);
  // A session of another agent than the usual one says so in the list.
  const other = await world.api('sessions', { method: 'POST', body: JSON.stringify({ agent: 'gardener', content: [{ type: 'text', text: 'hello' }] }) });
  await page.locator(`.entry[data-session="${other.id}"]`, { hasText: 'gardener · project' }).waitFor();
});
