// The two pictures of the README, made by the real program: a finished piece of work with its trace, and an open ask.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, idle, say, SHOTS, World } from './harness.mjs';

after(closeBrowser);
const FILES = {
  'gate.rs': 'impl Gate {\n    pub fn admit(&self, call: &Call) -> Admission {\n        let wait = self.limit.wait(1);\n        Admission { wait }\n    }\n}\n',
  'limit.rs': 'impl Limit {\n    pub fn wait(&self, tokens: u64) -> Duration {\n        self.bucket.take(tokens)\n    }\n}\n',
  'check.sh': 'echo "test short_prompts_pass ... ok"\necho "test long_prompts_wait ... ok"\necho "2 passed"\n',
};

async function named(world, page, title) {
  const id = new URL(page.url()).pathname.split('/').pop();
  await world.api(`sessions/${id}`, { method: 'PATCH', body: JSON.stringify({ title }) });
  await page.locator('.entry-link', { hasText: title }).waitFor();
}

test('pictures for the README', { timeout: 90_000 }, async () => {
  const world = await World.start({ script: 'pictures.json', files: FILES });
  try {
    mkdirSync(SHOTS, { recursive: true });
    const page = await world.page({ viewport: { width: 1320, height: 800 } });
    for (const words of ['Write the release notes for 0.2', 'Does the sandbox hold here?']) {
      await say(page, words);
      await page.locator('.row-end').waitFor();
      await named(world, page, words);
      await page.locator('.list .header').getByRole('link', { name: 'New session' }).click();
      await page.getByText('What should be done?').waitFor();
    }
    await say(page, 'Long prompts pass the rate limit. Find out why, fix it, and show that it is fixed.');
    await page.getByRole('button', { name: /Allow once/ }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await named(world, page, 'Long prompts pass the rate limit');
    await page.mouse.move(700, 640);
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(SHOTS, 'readme-ask.png') });
    await page.getByRole('button', { name: /Allow once/ }).click();
    const command = page.locator('[data-ask]', { hasText: 'check.sh' });
    await command.getByRole('button', { name: /Allow once/ }).click({ timeout: 5000 }).catch(() => {});
    await page.getByText('counted before').waitFor();
    await idle(page);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.getByRole('button', { name: 'Panel', exact: true }).click();
    await page.locator('.trace-card').first().waitFor();
    await page.mouse.move(700, 640);
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(SHOTS, 'readme-session.png') });
    if (process.env.WEFT_README) {
      const images = join(import.meta.dirname, '../../docs/images');
      mkdirSync(images, { recursive: true });
      for (const name of ['ask', 'session']) copyFileSync(join(SHOTS, `readme-${name}.png`), join(images, `${name}.png`));
    }
  } finally {
    await world.stop();
  }
});
