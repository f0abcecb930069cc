// Research in the browser: without a model at once, and with one through a pause, a kill, a repair, a follow-up and leaving.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, bin, closeBrowser, inWorld, say, shoot } from './harness.mjs';

after(closeBrowser);

async function ask(page, question) {
  await page.locator('.rail').getByRole('link', { name: 'Research' }).click();
  await page.getByText('What do you want to know?').waitFor();
  await page.locator('[data-composer]').fill(question);
  await page.locator('[data-composer]').press('Enter');
}

inWorld('without a model a question is answered with quotations and their sources', { key: false }, async (world) => {
  const page = await world.page();
  await page.locator('.rail').getByRole('link', { name: 'Research' }).click();
  await page.getByText('put together from quotations').waitFor();
  await shoot(page, 'research-start', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await page.getByRole('button', { name: /How long are employee files kept/ }).click();
  await page.locator('[data-composer]').press('Enter');
  await page.getByRole('heading', { name: 'Verification' }).first().waitFor();
  const document = page.locator('article.document').first();
  await document.locator('p').filter({ hasText: 'Employee files | end of employment | six years' }).first().waitFor();
  await shoot(page, 'research-document');
  assert.deepEqual(await barriers(page), []);
  // The list calls it what it is, and finds it by that.
  await page.locator('.list .entry', { hasText: 'research ·' }).first().waitFor();
  const kinds = async (where) => (await world.api(`sessions?where=${encodeURIComponent(where)}`)).sessions.map((row) => row.app);
  assert.deepEqual([await kinds('app == research'), await kinds('app == chat')], [['research'], []]);
  // A citation shows its paragraph.
  await document.locator('.cite').first().scrollIntoViewIfNeeded();
  await shoot(page, 'research-quotes');
  await document.locator('.cite').first().click();
  await page.getByText('The following keeping periods apply').last().waitFor();
  await shoot(page, 'research-source');
});

inWorld('an answer is saved in other forms and kept as a paper with versions and decisions', { key: false }, async (world) => {
  const page = await world.page();
  await page.locator('.rail').getByRole('link', { name: 'Research' }).click();
  await page.getByRole('button', { name: /How long are employee files kept/ }).click();
  await page.locator('[data-composer]').press('Enter');
  await page.getByRole('button', { name: 'Keep it as a paper' }).first().waitFor();
  for (const [name, begins] of [['Markdown', '# How long'], ['HTML', '<!doctype html>'], ['Word', 'PK'], ['PDF', '%PDF-1.4']]) {
    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name, exact: true }).click();
    const stream = await (await saved).createReadStream();
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    assert.ok(Buffer.concat(chunks).toString('latin1').startsWith(begins), `${name} does not begin with ${begins}`);
  }
  await page.getByRole('button', { name: 'Keep it as a paper' }).click();
  const paper = page.getByRole('region', { name: 'Paper' });
  await paper.getByText(/version 1/).waitFor();
  await paper.getByLabel('Decision on F1').selectOption('accepted');
  await paper.getByRole('button', { name: 'Make the next version' }).click();
  await paper.getByText(/version 2/).waitFor();
  // What was decided holds on in the new version, also after the page is loaded again.
  await page.reload();
  await paper.getByText(/version 2/).waitFor();
  assert.equal(await paper.getByLabel('Decision on F1').inputValue(), 'accepted');
  await paper.getByRole('button', { name: 'v1' }).click();
  await paper.getByRole('heading', { name: 'Research findings' }).waitFor();
  await paper.scrollIntoViewIfNeeded();
  await shoot(page, 'research-paper');
  assert.deepEqual(await barriers(page), []);
});

inWorld('a paragraph of a PDF opens at its page, and names in the text lead to their paragraphs', { key: false }, async (world) => {
  const page = await world.page();
  await ask(page, 'Within how many days must an expense be claimed?');
  await page.locator('article.document').first().waitFor();
  await page.getByRole('button', { name: 'Keep it as a paper' }).first().waitFor();
  // A name in running text leads to its paragraph as a chip does.
  await page.locator('article.document .cite-name', { hasText: 'Guide G5.4' }).first().click();
  await page.locator('.sources li.wanted', { hasText: 'You have 60 days' }).waitFor();
  // What was saved as a PDF is a document like any other.
  const saved = page.waitForEvent('download');
  await page.getByRole('tab', { name: 'Run' }).click();
  await page.getByRole('link', { name: 'PDF', exact: true }).click();
  mkdirSync(join(world.workspace, 'pdfs'));
  await (await saved).saveAs(join(world.workspace, 'pdfs/answer.pdf'));
  execFileSync(bin('weft'), ['corpus', 'add', 'pdfs', 'pdfs'], { cwd: world.workspace, env: world.env });
  await page.reload();
  await page.locator('.rail').getByRole('link', { name: 'Research' }).click();
  await page.getByLabel('Corpus').selectOption('pdfs');
  await page.locator('[data-composer]').fill('Within how many days must an expense be claimed?');
  await page.locator('[data-composer]').press('Enter');
  await page.getByRole('tab', { name: 'Sources' }).click();
  const link = page.getByRole('link', { name: /answer\.pdf, page 1/ }).first();
  await link.waitFor();
  await shoot(page, 'research-pdf');
  const href = await link.getAttribute('href');
  assert.match(href, /#page=1$/);
  const [kind, begins] = await page.evaluate(async (href) => {
    const answer = await fetch(href);
    return [answer.headers.get('content-type'), (await answer.text()).slice(0, 5)];
  }, href);
  assert.deepEqual([kind, begins], ['application/pdf', '%PDF-']);
  assert.deepEqual(await barriers(page), []);
});

inWorld('a run pauses, survives a kill, is repaired and followed up', { script: 'research.json' }, async (world) => {
  const page = await world.page();
  await ask(page, 'When are records deleted?');
  await page.getByText('65% (below 70%)').first().waitFor();
  await page.getByRole('button', { name: 'Go on' }).first().waitFor();
  await shoot(page, 'research-pause');
  assert.deepEqual(await barriers(page), []);
  await world.kill();
  await world.serve();
  await page.getByRole('button', { name: 'Go on' }).first().click();
  const document = page.locator('article.document').first();
  await document.locator('p').filter({ hasText: 'within 60 days' }).first().waitFor();
  const shown = await document.innerText();
  assert.ok(!shown.includes('90 days') && !shown.includes('99.9'), 'what does not hold was shown');
  await shoot(page, 'research-run');
  const id = new URL(page.url()).pathname.split('/').pop();
  // It is read from its beginning, also after a reload.
  const begins = () => page.waitForFunction(() => {
    const top = (element) => element.getBoundingClientRect().top;
    const [document, scroller] = [window.document.querySelector('article.document'), window.document.querySelector('.transcript .scroll')];
    return document && Math.abs(top(document) - top(scroller)) < 120;
  });
  await begins();
  await page.reload();
  await document.waitFor();
  await begins();
  // The box asks the documents now, and a plain message is one click away.
  await page.getByRole('button', { name: 'Ask the documents', pressed: true }).click();
  await page.getByRole('button', { name: 'Plain message', pressed: false }).click();
  await page.getByPlaceholder(/Ask a follow-up/).waitFor();
  await say(page, 'And backups?');
  await page.getByRole('button', { name: 'Go on' }).first().click();
  await page.getByText('Follow-up 1: And backups?').first().waitFor();
  const found = await world.api(`sessions/${id}/research`);
  assert.equal(found.output.followup_number, 2);
});

inWorld('somebody who wants something else is asked and then heard', { script: 'research.json' }, async (world) => {
  const page = await world.page();
  await ask(page, 'When are records deleted?');
  await page.getByRole('button', { name: 'Go on' }).first().waitFor();
  await say(page, 'never mind, what is the weather?');
  await page.getByText('Leave this run?').first().waitFor();
  await page.getByRole('button', { name: 'Leave', exact: true }).first().click();
  await page.getByText('It is sunny.').first().waitFor();
});
