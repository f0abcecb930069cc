import { describe, expect, it } from 'vitest';
import type { SessionRow } from '../src/api/types';
import { grouped } from '../src/inbox/groups';
import { wordAt } from '../src/session/Completion';
import { age, dollars, duration, endSentence, tokens } from '../src/session/words';
import { typedValue, written } from '../src/settings/parts';
import { fit } from '../src/shell/Palette';

const row = (id: string, change: Partial<SessionRow>): SessionRow => ({
  id, title: id, preview: null, app: 'chat', agent: 'weft', workspace: '/w', status: 'idle', labels: [], flag: null, archived: false, deleted: false, unread: false, asks_open: 0,
  cost_usd: 0, tokens: 0, turns: 1, seq: 1, created_at: 0, updated_at: 0, model: 'm', mode: 'ask', parent: null, forked_at: null, begun: true, ...change,
});

it('groups sessions as a person needs them', () => {
  const now = new Date(2026, 5, 5, 12).getTime();
  const rows = [row('old', { updated_at: now - 3 * 86_400_000 }), row('run', { status: 'running', updated_at: 1 }), row('ask', { status: 'running', asks_open: 1 }), row('new', { updated_at: now - 1000 }), row('newer', { updated_at: now }), row('new', { updated_at: now - 1000 })];
  expect(grouped(rows, now).map((entry) => entry.key)).toEqual(['Waiting', 'ask', 'Running', 'run', 'Today', 'newer', 'new', 'Earlier', 'old']);
});

describe('words', () => {
  it('have units', () => {
    expect([duration(90), duration(8_100), duration(75_000), dollars(0.004), dollars(1.5), tokens(1_234), age(0, 7_200_000)]).toEqual(['90 ms', '8.1 s', '1 min 15 s', '$0.0040', '$1.50', '1.2k', '2 h']);
  });
  it('say how a turn ended and what to do', () => {
    expect(endSentence({ reason: 'completed' })).toBeNull();
    expect(endSentence({ reason: 'model_failed', failure: { kind: 'auth', message: 'The key is wrong' } })).toBe('The key is wrong. Add a valid key under Settings, Models, then go on.');
  });
});

it('completes the word under the cursor', () => {
  expect(wordAt('/rev', 4)).toMatchObject({ sign: '/', query: 'rev', from: 0 });
  expect(wordAt('see @src/ma', 11)).toMatchObject({ sign: '@', query: 'src/ma', from: 4 });
  expect(wordAt('a /b', 4)).toBeNull();
  expect(wordAt('me@example', 10)).toBeNull();
});

it('finds by letters in order', () => {
  expect(fit('New session', 'new')).toBe(0);
  expect(fit('New session', 'nss')).not.toBeNull();
  expect(fit('New session', 'zz')).toBeNull();
});

it('reads a setting as its kind says', () => {
  expect(typedValue('12', 'number')).toBe(12);
  expect(typedValue('12', 'text')).toBe('12');
  expect(typedValue('many', 'number')).toBe('many');
  expect(typedValue('', 'number')).toBeNull();
  expect(typedValue('run ls\n\n write docs/** ', 'lines')).toEqual(['run ls', 'write docs/**']);
  expect(written(['a', 'b'], 'lines')).toBe('a\nb');
});
