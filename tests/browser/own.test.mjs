// What people write themselves in the settings: agents, skills, hooks.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, closeBrowser, idle, inWorld, say, shoot, text } from './harness.mjs';

after(closeBrowser);

inWorld('a skill and an agent are written, checked, changed, used and removed', {}, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/skills`);
  await page.getByRole('button', { name: 'New skill' }).click();
  await page.getByLabel('Name', { exact: true }).fill('release-notes');
  const box = page.getByLabel('What the file says');
  await box.fill('Write the notes.');
  await page.getByRole('button', { name: 'Save' }).click();
  await text(page, /It has no .*description.*, which says when to use it/);
  assert.deepEqual(await barriers(page), []);
  await box.fill('---\ndescription: When a release is near\n---\nWrite the notes first.\n');
  await shoot(page, 'settings-skill', { phone: true });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /\/release-notes When a release is near you/ }).waitFor();
  const file = join(world.home, 'skills/release-notes/SKILL.md');
  assert.match(readFileSync(file, 'utf8'), /Write the notes first/);
  // It can be called at once.
  const { commands } = await world.api('commands');
  assert.ok(commands.some((command) => command.typed === '/release-notes'));
  // One that is there is not overwritten by a new one.
  await page.getByRole('button', { name: 'New skill' }).click();
  await page.getByLabel('Name', { exact: true }).fill('release-notes');
  await page.getByRole('button', { name: 'Save' }).click();
  await text(page, /There is already a skill/);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Edit release-notes' }).click();
  await page.getByLabel('What the file says').fill('---\ndescription: Before a release\n---\nWrite them.\n');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /Before a release/ }).waitFor();
  await page.getByRole('button', { name: 'Edit release-notes' }).click();
  await page.getByRole('button', { name: 'Remove…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('row', { name: /release-notes/ }).waitFor({ state: 'detached' });
  assert.ok(!existsSync(file));
  const away = join(world.home, 'removed');
  assert.equal(readdirSync(away).length, 1, 'it was put away, not lost');

  await page.goto(`${world.origin}/settings/agents`);
  await page.getByRole('button', { name: 'New agent' }).click();
  await page.getByLabel('Name', { exact: true }).fill('reviewer');
  await page.getByLabel('What the file says').fill('---\ndescription: Looks at changes\nmode: reckless\n---\nLook closely.\n');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('[role=alert]', { hasText: 'reckless' }).waitFor();
  await page.getByLabel('What the file says').fill('---\ndescription: Looks at changes\nmode: safe\n---\nLook closely.\n');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /@reviewer Looks at changes you/ }).waitFor();
  await shoot(page, 'settings-agents-own', { phone: true });
  const { entries } = await world.api('audit?limit=50&category=config');
  const done = entries.map((entry) => `${entry.action} ${entry.target}`);
  assert.ok(done.includes('write skill release-notes') && done.includes('remove skill release-notes') && done.includes('write agent reviewer'), JSON.stringify(done));
});

const OF_PROJECT = {
  '.weft/agents/gardener/AGENT.md': '---\ndescription: Knows plants\n---\nWater them <img src=x onerror="window.hacked = 1">.\n',
  '.weft/skills/pruning/SKILL.md': '---\ndescription: When a hedge is too high\n---\nCut it in March.\n',
};

inWorld('what a project brings is read before it is used, as its file has it', { files: OF_PROJECT }, async (world) => {
  const page = await world.page();
  for (const [place, name, says, file] of [['agents', 'gardener', 'Water them <img', '.weft/agents/gardener/AGENT.md'], ['skills', 'pruning', 'Cut it in March.', '.weft/skills/pruning/SKILL.md']]) {
    await page.goto(`${world.origin}/settings/${place}`);
    await page.getByRole('button', { name: `Show ${name}` }).click();
    await page.getByLabel(`What ${name} says`).filter({ hasText: says }).waitFor();
    await page.getByText(file).waitFor();
    assert.equal(await page.getByRole('button', { name: `Edit ${name}` }).count(), 0);
    await shoot(page, `settings-${place}-of-project`, { phone: true });
    assert.deepEqual(await barriers(page), []);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByLabel(`What ${name} says`).waitFor({ state: 'detached' });
  }
  // The built-in one too.
  await page.goto(`${world.origin}/settings/agents`);
  await page.getByRole('button', { name: 'Show weft' }).click();
  await page.getByLabel('What weft says').waitFor();
  await text(page, 'It is built in.');
  // Nothing is said of where it comes from before that is known.
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.route('**/api/v1/agents/gardener', (route) => route.fulfill({ status: 404, json: { error: { code: 'missing', message: 'There is no such agent here.' } } }));
  await page.getByRole('button', { name: 'Show gardener' }).click();
  await text(page, 'There is no such agent here.');
  assert.equal(await page.getByText('It is built in.').count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

inWorld('a hook is added, holds at once, is changed and removed, and the audit has it', { mode: 'auto' }, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/hooks`);
  await page.getByRole('button', { name: 'New hook' }).click();
  await page.getByLabel('Only for this tool').fill('write');
  await page.getByRole('textbox', { name: 'Command' }).fill("echo 'no notes today'; exit 2");
  await shoot(page, 'settings-hook', { phone: true });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.provider', { hasText: 'no notes today' }).waitFor();
  assert.deepEqual(await barriers(page), []);
  const config = () => readFileSync(join(world.home, 'config.toml'), 'utf8');
  assert.match(config(), /mode = "auto"[^]*\[\[hooks\]\][^]*no notes today/);
  // The server was not started anew.
  await page.locator('.rail').getByRole('link', { name: 'Sessions' }).click();
  await page.locator('.list .header').getByRole('link', { name: 'New session' }).click();
  await say(page, 'Please write it.');
  await text(page, /no notes today/);
  await idle(page);
  assert.ok(!existsSync(join(world.workspace, 'note.md')), 'the hook did not hold');
  await page.goto(`${world.origin}/settings/hooks`);
  await page.getByRole('button', { name: 'Remove hook 1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await text(page, 'None yet.');
  assert.doesNotMatch(config(), /hooks/);
  const { entries } = await world.api('audit?limit=50&category=config');
  assert.ok(entries.some((entry) => /no notes today/.test(entry.target ?? '')), JSON.stringify(entries));
  // What makes no sense is refused as a whole.
  const { hooks_version: version } = await world.api('settings');
  const put = (hooks) => world.api('settings/hooks', { method: 'PUT', body: JSON.stringify({ hooks, version }) });
  for (const wrong of [{ on: 'before_tool', command: ' ' }, { on: 'sometimes', command: 'x' }, { on: 'after_prompt', tool: 'write', command: 'x' }, { on: 'before_tool', command: 'x', timeout_seconds: 0 }]) {
    await assert.rejects(put([{ on: 'before_tool', command: 'true' }, wrong]), /400/, JSON.stringify(wrong));
  }
  assert.doesNotMatch(config(), /hooks/);
});

inWorld('two windows that change the same hooks, statuses and agent undo nothing that they did not see', {}, async (world) => {
  const [one, two] = [await world.page(), await world.page()];
  // Both have the list with no hook before them.
  for (const page of [one, two]) {
    await page.goto(`${world.origin}/settings/hooks`);
    await page.getByRole('button', { name: 'New hook' }).click();
  }
  await one.getByRole('textbox', { name: 'Command' }).fill('echo first');
  await one.getByRole('button', { name: 'Save' }).click();
  await one.locator('.provider', { hasText: 'echo first' }).waitFor();
  await two.getByRole('textbox', { name: 'Command' }).fill('echo second');
  await two.getByRole('button', { name: 'Save' }).click();
  // It is told, sees what there is now, and has lost nothing of what it typed.
  await two.locator('[role=alert]', { hasText: 'The hooks changed after you had read them' }).waitFor();
  await two.locator('.provider', { hasText: 'echo first' }).waitFor();
  assert.deepEqual(await barriers(two), []);
  const config = () => readFileSync(join(world.home, 'config.toml'), 'utf8');
  assert.doesNotMatch(config(), /echo second/);
  assert.equal(await two.getByRole('textbox', { name: 'Command' }).inputValue(), 'echo second');
  await two.getByRole('button', { name: 'Save' }).click();
  await two.locator('.provider', { hasText: 'echo second' }).waitFor();
  assert.match(config(), /echo first[^]*echo second/);
  // The first window still has the first alone, and must not take the second away.
  await one.getByRole('button', { name: 'Remove hook 1' }).click();
  await one.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await one.locator('.toast', { hasText: 'Nothing was saved' }).waitFor();
  await one.locator('.provider', { hasText: 'echo second' }).waitFor();
  assert.match(config(), /echo first[^]*echo second/);

  // A change of statuses is one to what there is: it is made again by itself.
  for (const page of [one, two]) {
    await page.goto(`${world.origin}/settings/statuses`);
    await page.getByLabel('Name of Todo').waitFor();
  }
  await one.getByLabel('Name of Todo').fill('Later');
  await one.getByLabel('Name of Todo').press('Enter');
  await one.getByLabel('Name of Later').waitFor();
  await two.getByLabel('Name of Done').fill('Finished');
  await two.getByLabel('Name of Done').press('Enter');
  await two.getByLabel('Name of Finished').waitFor();
  await two.getByLabel('Name of Later').waitFor();
  const { statuses } = await world.api('views');
  assert.deepEqual(statuses.map((status) => status.name), ['Later', 'In progress', 'Needs review', 'Finished', 'Cancelled']);

  // Two texts of one agent cannot be made one: the second is told, and can look.
  const agent = (words) => `---\ndescription: Looks at changes\n---\n${words}\n`;
  await world.api('agents/reviewer', { method: 'PUT', body: JSON.stringify({ text: agent('Look.'), new: true }) });
  for (const page of [one, two]) {
    await page.goto(`${world.origin}/settings/agents`);
    await page.getByRole('button', { name: 'Edit reviewer' }).click();
    await page.getByLabel('What the file says').waitFor();
  }
  await one.getByLabel('What the file says').fill(agent('Look closely.'));
  await one.getByRole('button', { name: 'Save' }).click();
  await one.getByLabel('What the file says').waitFor({ state: 'detached' });
  await two.getByLabel('What the file says').fill(agent('Look away.'));
  await two.getByRole('button', { name: 'Save' }).click();
  await two.locator('[role=alert]', { hasText: 'What you typed is still here and is not saved' }).waitFor();
  assert.deepEqual(await barriers(two), []);
  assert.equal(await two.getByLabel('What the file says').inputValue(), agent('Look away.'));
  assert.match(readFileSync(join(world.home, 'agents/reviewer/AGENT.md'), 'utf8'), /Look closely/);
  await two.getByRole('button', { name: 'Show what the file says now' }).click();
  await two.waitForFunction((words) => document.querySelector('textarea')?.value === words, agent('Look closely.'));
});

inWorld('what is typed in the settings outlives a lost connection and a reload, and a change meanwhile is told', {}, async (world) => {
  const page = await world.page();
  const agent = (words) => `---\ndescription: Looks at changes\n---\n${words}\n`;
  const file = join(world.home, 'agents/reviewer/AGENT.md');
  const gone = async () => {
    await world.kill();
    await text(page, /Weft does not answer|connection was lost/);
  };
  const back = async () => {
    const asked = page.waitForResponse((response) => /\/api\/v1\/(agents|settings)$/.test(new URL(response.url()).pathname) && response.ok());
    await world.serve();
    await asked;
  };
  await world.api('agents/reviewer', { method: 'PUT', body: JSON.stringify({ text: agent('Look.'), new: true }) });
  await page.goto(`${world.origin}/settings/agents`);
  await page.getByRole('button', { name: 'Edit reviewer' }).click();
  const box = page.getByLabel('What the file says');
  await box.fill(agent('Look twice.'));
  await gone();
  writeFileSync(file, agent('Written by hand.'));
  await back();
  const changed = page.locator('[role=alert]', { hasText: 'changed in another window or on disk' });
  await changed.waitFor();
  assert.equal(await box.inputValue(), agent('Look twice.'), 'what was typed is lost');
  await shoot(page, 'settings-agent-changed', { phone: true });
  await page.reload();
  await changed.waitFor();
  assert.equal(await box.inputValue(), agent('Look twice.'), 'what was typed did not outlive a reload');
  await changed.getByRole('button', { name: 'put yours in its place' }).click();
  await box.waitFor({ state: 'detached' });
  assert.equal(readFileSync(file, 'utf8'), agent('Look twice.'));
  // What is left on purpose is left.
  await page.getByRole('button', { name: 'Edit reviewer' }).click();
  await box.fill('nonsense');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Edit reviewer' }).click();
  assert.equal(await box.inputValue(), agent('Look twice.'));
  // Somebody changes it while one is asked whether to remove it.
  await page.getByRole('button', { name: 'Remove…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  writeFileSync(file, agent('Changed again.'));
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.locator('.toast', { hasText: 'Nothing was saved' }).waitFor();
  assert.ok(existsSync(file));

  // A hook is added by hand while one is asked whether to remove the other: the list that would be sent is old.
  const config = join(world.home, 'config.toml');
  const hook = (command) => `\n[[hooks]]\non = "before_tool"\ncommand = "${command}"\n`;
  writeFileSync(config, readFileSync(config, 'utf8') + hook('echo first'));
  await page.goto(`${world.origin}/settings/hooks`);
  await page.getByRole('button', { name: 'Remove hook 1' }).click();
  await dialog.waitFor();
  await gone();
  writeFileSync(config, readFileSync(config, 'utf8') + hook('echo second'));
  await back();
  await page.locator('.provider', { hasText: 'echo second' }).waitFor();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.locator('.toast', { hasText: 'Nothing was saved' }).waitFor();
  assert.match(readFileSync(config, 'utf8'), /echo first[^]*echo second/);

  // Rules are a list too.
  await page.goto(`${world.origin}/settings/permissions`);
  const rules = page.getByLabel(/Never happens/);
  await rules.fill('write mine.md');
  await gone();
  writeFileSync(config, `${readFileSync(config, 'utf8')}\n[permissions]\ndeny = ["write theirs.md"]\n`);
  await back();
  await changed.waitFor();
  assert.equal(await rules.inputValue(), 'write mine.md');
  await changed.getByRole('button', { name: 'Show what it is now' }).click();
  assert.equal(await rules.inputValue(), 'write theirs.md');
});
