// Signing in to a source from the page: a server that wants OAuth, with the real steps between the page, the program and it.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { barriers, closeBrowser, inWorld, shoot, text } from './harness.mjs';

after(closeBrowser);

/** An MCP server with one tool, and the sign-in server that guards it. Says no to whoever asks it to. */
async function guarded() {
  const [codes, tokens] = [new Map(), new Set()];
  const seen = { refused: 0, registered: 0, calls: 0 };
  const server = createServer(async (request, response) => {
    const origin = `http://127.0.0.1:${server.address().port}`;
    const url = new URL(request.url, origin);
    let body = '';
    for await (const piece of request) body += piece;
    const json = (status, data, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(data));
    };
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) return json(200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (url.pathname.startsWith('/.well-known/oauth-authorization-server')) {
      return json(200, {
        issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token`, registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'], grant_types_supported: ['authorization_code', 'refresh_token'], code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'],
      });
    }
    if (url.pathname === '/register') {
      seen.registered += 1;
      const wanted = JSON.parse(body);
      return json(201, { client_id: 'weft-here', redirect_uris: wanted.redirect_uris, token_endpoint_auth_method: 'none', grant_types: ['authorization_code'], response_types: ['code'] });
    }
    if (url.pathname === '/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri'));
      assert.equal(back.hostname, '127.0.0.1', 'the code would go elsewhere');
      back.searchParams.set('state', url.searchParams.get('state'));
      const no = new URL(back);
      no.searchParams.set('error', 'access_denied');
      const code = randomUUID();
      codes.set(code, url.searchParams.get('code_challenge'));
      back.searchParams.set('code', code);
      response.writeHead(200, { 'content-type': 'text/html' });
      return response.end(`<!doctype html><title>Sign in</title><a id="yes" href="${back}">Let Weft in</a> <a id="no" href="${no}">No</a>`);
    }
    if (url.pathname === '/token') {
      const given = new URLSearchParams(body);
      const proof = createHash('sha256').update(given.get('code_verifier') ?? '').digest('base64url');
      if (codes.get(given.get('code')) !== proof) return json(400, { error: 'invalid_grant' });
      codes.delete(given.get('code'));
      const token = randomUUID();
      tokens.add(token);
      return json(200, { access_token: token, token_type: 'Bearer', expires_in: 3600 });
    }
    if (url.pathname !== '/mcp') return json(404, {});
    if (!tokens.has((request.headers.authorization ?? '').replace('Bearer ', ''))) {
      seen.refused += 1;
      return json(401, {}, { 'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` });
    }
    if (request.method !== 'POST') return json(405, {});
    const call = JSON.parse(body);
    seen.calls += 1;
    const results = {
      initialize: { protocolVersion: call.params?.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } },
      'tools/list': { tools: [{ name: 'lookup', description: 'Looks something up', inputSchema: { type: 'object' } }] },
    };
    if (call.id === undefined) {
      response.writeHead(202);
      return response.end();
    }
    return json(200, { jsonrpc: '2.0', id: call.id, ...(results[call.method] ? { result: results[call.method] } : { error: { code: -32601, message: 'no such method' } }) });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, seen, close: () => server.close() };
}

inWorld('a source is added by form, signed in to, tested, and refused where somebody says no', {}, async (world) => {
  const source = await guarded();
  try {
    const page = await world.page();
    await page.goto(`${world.origin}/settings/sources`);
    await page.getByLabel('Name', { exact: true }).fill('guarded');
    await page.getByRole('textbox', { name: 'Address' }).fill(source.url);
    await page.getByRole('button', { name: 'Add source' }).click();
    await text(page, 'Source added.');
    const row = page.locator('.provider', { hasText: 'guarded' });
    await row.getByRole('button', { name: 'Test', exact: true }).click();
    await row.locator('[role=status].bad').waitFor();
    assert.ok(source.seen.refused > 0);

    const signIn = async (answer) => {
      const [popup] = await Promise.all([page.context().waitForEvent('page'), row.getByRole('button', { name: 'Sign in' }).click()]);
      await popup.locator(`#${answer}`).click();
      await popup.waitForURL(/\/callback\?/);
      await popup.close();
    };
    await signIn('no');
    await row.getByRole('button', { name: 'Test', exact: true }).click();
    await row.locator('[role=status].bad').waitFor();

    await signIn('yes');
    await text(page, /Sign in at 127\.0\.0\.1/);
    await shoot(page, 'signed-in');
    assert.deepEqual(await barriers(page), []);
    // The code is turned into a token while the window closes.
    const works = row.getByText(/It works\. It has 1 tool: lookup\./);
    for (let tries = 0; tries < 50 && (await works.count()) === 0; tries += 1) {
      const tested = page.waitForResponse((response) => response.url().endsWith('/test'));
      await row.getByRole('button', { name: 'Test', exact: true }).click();
      await tested;
      await row.getByRole('button', { name: 'Test', exact: true }).waitFor();
    }
    await works.waitFor();
    assert.ok(source.seen.calls >= 2 && source.seen.registered >= 1);
    // Already signed in: said so, and no window opens.
    await row.getByRole('button', { name: 'Sign in' }).click();
    await text(page, /can be used already/);
    // It can be named in a message.
    await page.locator('.rail').getByRole('link', { name: 'Sessions' }).click();
    await page.locator('[data-composer]').pressSequentially('look it up in @guar');
    await page.getByRole('option', { name: /@guarded/ }).waitFor();
    await page.keyboard.press('Tab');
    assert.equal(await page.locator('[data-composer]').inputValue(), 'look it up in @guarded ');
    await page.goto(`${world.origin}/settings/sources`);
    await row.getByRole('button', { name: 'Remove' }).click();
    await text(page, 'No sources yet.');
  } finally {
    source.close();
  }
});

inWorld('a source is added with what it needs, and a key is not written into a file', {}, async (world) => {
  const page = await world.page();
  await page.goto(`${world.origin}/settings/sources`);
  const add = async (name, where, more) => {
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.locator('[name=where]').fill(where);
    if ((await page.locator('[name=more]').isVisible()) === false) await page.locator('.section', { hasText: 'Add a source' }).locator('summary').click();
    await page.locator('[name=more]').fill(more);
    await page.getByRole('button', { name: 'Add source' }).click();
  };
  await add('docs', 'https://docs.example/mcp', 'Authorization: Bearer sk-ant-api03-aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY');
  await text(page, /settings files are no place for one/);
  assert.equal(await page.locator('[name=where]').inputValue(), 'https://docs.example/mcp', 'what was typed is lost');
  await shoot(page, 'source-with-headers', { phone: true });
  assert.deepEqual(await barriers(page), []);
  await add('docs', 'https://docs.example/mcp', 'Authorization: Bearer env:DOCS_TOKEN\nX-Team: blue');
  await page.locator('.provider', { hasText: 'docs' }).waitFor();
  await page.getByLabel('Kind').selectOption('command');
  await add('local', `"${process.execPath}" -e "two words"`, 'PLACE=here');
  await page.locator('.provider', { hasText: 'local' }).waitFor();
  const config = readFileSync(join(world.home, 'config.toml'), 'utf8');
  assert.match(config, /Authorization = "Bearer env:DOCS_TOKEN"/);
  assert.match(config, /X-Team = "blue"/);
  assert.match(config, /"two words"/);
  assert.match(config, /PLACE = "here"/);
  assert.doesNotMatch(config, /sk-ant/);
});
