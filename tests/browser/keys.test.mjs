// Every shortcut that the list of shortcuts promises, and notices of the desktop.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { barriers, closeBrowser, idle, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);
const free = (page) => page.evaluate(() => document.activeElement?.blur());
const focused = (page, selector) => page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector);

inWorld('every shortcut does what the list says', {}, async (world) => {
  const page = await world.page();
  await say(page, 'hello');
  await text(page, 'Hello from the script.');
  await idle(page);
  const session = new URL(page.url()).pathname;
  const press = async (keys) => {
    await free(page);
    for (const key of keys.split(' ')) await page.keyboard.press(key);
  };
  await press('?');
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await list.waitFor();
  const promised = await list.locator('dt').allInnerTexts();
  await shoot(page, 'shortcuts');
  assert.deepEqual(await barriers(page), []);
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });

  const tried = {
    'This list': async () => {},
    'Go to or do': async () => {
      await press('Control+k');
      await page.getByRole('combobox', { name: 'Go to or do' }).waitFor();
      await page.keyboard.press('Escape');
    },
    'New session': async () => {
      await press('c');
      await page.waitForURL((url) => url.pathname === '/');
      await focused(page, '[data-composer]');
      await page.goBack();
      await page.waitForURL((url) => url.pathname === session);
      await text(page, 'Hello from the script.');
    },
    'Write a message': async () => {
      await press('/');
      await focused(page, '[data-composer]');
      assert.equal(await page.locator('[data-composer]').inputValue(), '');
    },
    'Search sessions': async () => {
      await press('g s');
      await focused(page, '[data-search]');
      // Also from where the list has no room.
      await press('g ,');
      await page.waitForURL(/\/settings\//);
      await press('g s');
      await page.waitForURL((url) => url.pathname === '/');
      await focused(page, '[data-search]');
      await page.goto(world.origin + session);
      await text(page, 'Hello from the script.');
    },
    'Find in this session': async () => {
      await press('Control+f');
      await focused(page, '[data-find]');
      await page.keyboard.type('FROM the');
      await page.getByRole('search', { name: 'In this session' }).getByText('1 of 1').waitFor();
      await page.keyboard.press('Escape');
      await focused(page, '[data-composer]');
      await page.getByRole('search', { name: 'In this session' }).waitFor({ state: 'detached' });
    },
    'Search what is known': async () => {
      await press('g k');
      await page.waitForURL(/\/knowledge/);
      await page.goBack();
    },
    'Research a question': async () => {
      await press('g r');
      await page.waitForURL(/\/research/);
      await page.goBack();
    },
    Settings: async () => {
      await press('g ,');
      await page.waitForURL(/\/settings\/models/);
      await page.goBack();
      await page.locator('[data-composer]').waitFor();
    },
    Panel: async () => {
      await press(']');
      await page.getByRole('tablist').waitFor();
      await press(']');
      await page.getByRole('tablist').waitFor({ state: 'detached' });
    },
    'Next mode (safe, ask, auto)': async () => {
      await page.locator('[data-composer]').focus();
      await page.keyboard.press('Shift+Tab');
      await page.getByRole('button', { name: 'Mode: Auto' }).waitFor();
      await page.keyboard.press('Shift+Tab');
      await page.getByRole('button', { name: 'Mode: Safe' }).waitFor();
      await page.keyboard.press('Shift+Tab');
      await page.getByRole('button', { name: 'Mode: Ask' }).waitFor();
    },
    'Send; queue while it works': async () => {
      await say(page, 'Tell it slowly.');
      await text(page, /look away/);
      await say(page, 'hello, after that');
      await page.getByRole('list', { name: 'Queued' }).getByText('Next turn').waitFor();
      await page.getByRole('button', { name: 'Take back' }).click();
      await page.getByRole('list', { name: 'Queued' }).waitFor({ state: 'detached' });
    },
    'Steer while it works': async () => {
      await page.locator('[data-composer]').fill('Faster, please');
      await page.locator('[data-composer]').press('Control+Enter');
      await page.getByRole('list', { name: 'Queued' }).getByText('Next round').waitFor();
      await page.getByRole('button', { name: 'Take back' }).click();
      await page.locator('[data-composer]').fill('');
    },
    'Stop the turn': async () => {
      await press('Escape');
      await text(page, 'Stopped.');
      await idle(page);
    },
    'Leave the box, when nothing runs': async () => {
      await page.locator('[data-composer]').focus();
      await page.getByText('to write').waitFor({ state: 'hidden' });
      await page.keyboard.press('Escape');
      await focused(page, 'body');
      await page.getByText('to write').waitFor();
    },
    'Next waiting ask': async () => {
      await say(page, 'Please write it.');
      await page.locator('[data-ask]').waitFor();
      await press('g w');
      await focused(page, '[data-ask]');
    },
    'Reject, in a focused ask': async () => {
      await page.keyboard.press('n');
      await text(page, 'The note is dealt with.');
      await text(page, /^Rejected/);
      await focused(page, '[data-composer]');
    },
    'Allow once, in a focused ask': async () => {
      await idle(page);
      await say(page, 'Please write it.');
      await page.locator('[data-ask]').waitFor();
      await press('g w');
      await focused(page, '[data-ask]');
      await page.keyboard.press('y');
      await text(page, 'Allowed once');
      await idle(page);
    },
    'Status: Todo': async () => {
      await press('s 1');
      await page.locator('.entry', { hasText: 'Todo' }).waitFor();
    },
    'Status: In progress': async () => {
      await press('s 2');
      await page.locator('.entry', { hasText: 'In progress' }).waitFor();
    },
    'Status: Needs review': async () => {
      await press('s 3');
      await page.locator('.entry', { hasText: 'Needs review' }).waitFor();
    },
    'Status: Done': async () => {
      await press('s 4');
      await page.locator('.entry.closed', { hasText: 'Done' }).waitFor();
    },
    'Status: Cancelled': async () => {
      await press('s 5');
      await page.locator('.entry.closed', { hasText: 'Cancelled' }).waitFor();
      await page.getByRole('button', { name: 'Undo' }).last().click();
      await page.locator('.entry.closed', { hasText: 'Done' }).waitFor();
    },
  };
  assert.deepEqual([...promised].sort(), Object.keys(tried).sort(), 'the list and what is tried differ');
  for (const [name, does] of Object.entries(tried)) {
    await does().catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  }
});

/** The desktop is the one thing here that is not real: headless browsers show no notices and hide no tab. */
async function desktop(page) {
  await page.addInitScript(() => {
    window.notices = [];
    window.Notification = class {
      static permission = 'default';
      static requestPermission = async () => (this.permission = 'granted');
      constructor(title, options) {
        window.notices.push({ title, ...options });
        window.lastNotice = this;
      }
    };
    Object.defineProperty(document, 'hidden', { get: () => window.away === true });
  });
}

inWorld('a notice of the desktop comes when something waits and nobody looks', {}, async (world) => {
  const page = await world.page();
  await desktop(page);
  await page.goto(`${world.origin}/settings/permissions`);
  await page.getByLabel('Tell me when something waits').check();
  // Another page of the same app, without loading anew.
  await page.locator('.rail').getByRole('link', { name: 'Sessions' }).click();
  const ask = async () => {
    const session = await world.api('sessions', { method: 'POST', body: JSON.stringify({ content: [{ type: 'text', text: 'Please ask me.' }] }) });
    await page.locator('.rail .count').waitFor();
    return session.id;
  };
  const first = await ask();
  await page.waitForTimeout(500);
  assert.deepEqual(await page.evaluate(() => window.notices), [], 'somebody was looking');
  const { asks } = await world.api('asks');
  await world.api(`sessions/${first}/asks/${asks[0].ask.id}`, { method: 'POST', body: JSON.stringify({ answer: { type: 'text', text: 'Red' } }) });
  await page.locator('.rail .count').waitFor({ state: 'detached' });
  await page.evaluate(() => (window.away = true));
  const second = await ask();
  await page.waitForFunction(() => window.notices.length === 1);
  const [notice] = await page.evaluate(() => window.notices);
  assert.equal(notice.title, 'Weft waits for you');
  assert.equal(notice.tag, second);
  await page.evaluate(() => window.lastNotice.onclick());
  await page.waitForURL((url) => url.pathname === `/s/${second}`);
  await page.getByRole('button', { name: 'Green' }).waitFor();
});

inWorld('no notice comes while another page of Weft is looked at', {}, async (world) => {
  const one = await world.page();
  // The first page listens for all of them.
  await desktop(one);
  await one.goto(`${world.origin}/settings/permissions`);
  await one.getByLabel('Tell me when something waits').check();
  const two = await one.context().newPage();
  world.watch(two);
  await desktop(two);
  await two.goto(`${world.origin}/waiting`);
  await one.evaluate(() => (window.away = true));
  const ask = async () => {
    const { id } = await world.api('sessions', { method: 'POST', body: JSON.stringify({ content: [{ type: 'text', text: 'Please ask me.' }] }) });
    await two.locator('[data-ask]').waitFor();
    return id;
  };
  const notices = async () => [...(await one.evaluate(() => window.notices)), ...(await two.evaluate(() => window.notices))];
  await ask();
  await one.waitForTimeout(1_600);
  assert.deepEqual(await notices(), [], 'somebody was looking');
  await two.getByRole('button', { name: 'Green' }).click();
  await text(two, 'Nothing waits for you.');
  await two.evaluate(() => (window.away = true));
  const second = await ask();
  await Promise.race([one, two].map((page) => page.waitForFunction(() => window.notices.length === 1)));
  assert.deepEqual((await notices()).map((notice) => notice.tag), [second]);
});

inWorld('the screen stays on while a session works, for those who want it', {}, async (world) => {
  const page = await world.page();
  // A headless browser has no screen.
  await page.addInitScript(() => {
    window.lit = 0;
    Object.defineProperty(navigator, 'wakeLock', { value: { request: async () => {
      window.lit += 1;
      return { release: async () => (window.lit -= 1) };
    } } });
  });
  await page.goto(`${world.origin}/`);
  await say(page, 'hello');
  await page.locator('.row-end').waitFor();
  assert.equal(await page.evaluate(() => window.lit), 0, 'nobody asked for it');
  await page.goto(`${world.origin}/settings/permissions`);
  await page.getByLabel('Keep the screen on').check();
  await page.goto(`${world.origin}/`);
  await say(page, 'Tell it slowly.');
  await page.waitForFunction(() => window.lit === 1);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.waitForFunction(() => window.lit === 0);
});
