import { around } from '../src/session/Transcript';
import { describe, expect, it } from 'vitest';
import type { Field } from '../src/api/events';
import type { SessionRow } from '../src/api/types';
import { begun, filled } from '../src/asks/form';
import { filterWords, sameFilter } from '../src/inbox/FilterMenu';
import { grouped, labelTree, nameOf } from '../src/inbox/groups';
import { wordAt } from '../src/session/Completion';
import { rowsWith } from '../src/session/find';
import type { Row } from '../src/session/rows';
import { age, beginning, dollars, duration, endSentence, tokens } from '../src/session/words';
import { typedValue, written } from '../src/settings/parts';
import { argumentsOf, pairsOf } from '../src/settings/Sources';
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

it('nests what a session began under it, forks not, and never loses one', () => {
  const rows = [row('top', {}), row('child', { parent: 'top' }), row('grandchild', { parent: 'child' }), row('fork', { parent: 'top', forked_at: 3 }), row('orphan', { parent: 'gone' }), row('loop', { parent: 'loop' })];
  const shown = (open: string[]) => grouped(rows, 1e12, new Set(open)).flatMap((entry) => (entry.type === 'session' ? [`${'>'.repeat(entry.depth)}${entry.key}${entry.children || ''}`] : []));
  expect(shown([])).toEqual(['fork', 'loop', 'orphan', 'top1']);
  expect(shown(['top', 'child'])).toEqual(['fork', 'loop', 'orphan', 'top1', '>child1', '>>grandchild']);
});

it('makes a tree of labels in which parents count what is below them', () => {
  const tree = labelTree([{ name: 'work/urgent', sessions: 2 }, { name: 'home', sessions: 1 }, { name: 'work', sessions: 3 }, { name: 'work-shop', sessions: 1 }, { name: 'a/b/c', sessions: 1 }]);
  expect(tree.map((node) => `${' '.repeat(node.depth)}${node.label} ${node.sessions}`)).toEqual(['a 1', ' b 1', '  c 1', 'home 1', 'work 5', ' urgent 2', 'work-shop 1']);
});

it('names what the list shows', () => {
  expect(filterWords({ view: 'inbox' }, [])).toBeNull();
  expect(filterWords({ view: 'inbox', status: 'waiting' }, [])).toBe('Waiting for you');
  expect(filterWords({ view: 'inbox', label: 'work', flag: 'Done' }, [])).toBe('Done · work');
  expect(filterWords({ view: 'inbox', label: 'work' }, [{ name: 'My work', label: 'work' }])).toBe('My work');
  expect(sameFilter({ view: 'inbox', label: undefined }, { view: 'inbox' })).toBe(true);
});

describe('a form', () => {
  const fields: Field[] = [
    { name: 'name', title: 'Name', required: true, kind: { type: 'text', min_length: 2 } },
    { name: 'age', title: 'Age', kind: { type: 'number', integer: true, min: 18 }, default: 30 },
    { name: 'ok', title: 'OK', kind: { type: 'flag' } },
    { name: 'size', title: 'Size', required: true, kind: { type: 'choice', options: [{ value: 's', title: 'Small' }, { value: 'l', title: 'Large' }] } },
    { name: 'tags', title: 'Tags', kind: { type: 'choice', several: true, options: [{ value: 'a', title: 'A' }, { value: 'b', title: 'B' }] }, default: ['b'] },
    { name: 'mail', title: 'Mail', kind: { type: 'text', format: 'email' } },
  ];
  it('begins with its defaults and becomes values', () => {
    const typed = { ...begun(fields), name: 'Ada', size: [1] };
    expect(typed).toMatchObject({ age: '30', ok: false, tags: [1], mail: '' });
    expect(filled(fields, typed)).toEqual({ values: { name: 'Ada', age: 30, ok: false, size: 'l', tags: ['b'] }, problems: {} });
  });
  it('says field by field what is wrong', () => {
    const typed = { name: 'A', age: '17.5', ok: true, size: [], tags: [], mail: 'nobody' };
    expect(Object.keys(filled(fields, typed).problems)).toEqual(['name', 'age', 'size', 'mail']);
    expect(filled(fields, { ...typed, age: '17' }).problems['age']).toBe('At least 18.');
  });
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

it('reads a command line and pairs as people write them', () => {
  expect(argumentsOf('npx -y  some-server')).toEqual(['npx', '-y', 'some-server']);
  expect(argumentsOf(`"/opt/my tools/run" --name='two words' ""`)).toEqual(['/opt/my tools/run', '--name=two words', '']);
  expect(pairsOf('Authorization: Bearer env:TOKEN\n\nTEAM=a=b\nnonsense')).toEqual({ Authorization: 'Bearer env:TOKEN', TEAM: 'a=b' });
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

it('rows are drawn ahead by height, not by number', () => {
  const range = { startIndex: 50, endIndex: 52, count: 100 };
  expect(around(range, () => 30)).toEqual(Array.from({ length: 23 }, (_, index) => 40 + index));
  expect(around(range, () => 2_000)).toEqual([49, 50, 51, 52, 53]);
  expect(around(range, (index) => (index === 48 || index === 54 ? 5_000 : 30))).toEqual([49, 50, 51, 52, 53]);
  expect(around({ startIndex: 0, endIndex: 1, count: 2 }, () => 10)).toEqual([0, 1]);
});

it('cuts what is too long between two words, and says so', () => {
  expect(beginning('short', 10)).toBe('short');
  expect(beginning('one two three', 9)).toBe('one two…');
  expect(beginning('x'.repeat(12), 10)).toBe(`${'x'.repeat(10)}…`);
  expect(beginning('😀😀😀', 3)).toBe('😀😀😀');
  // The list keeps 80 letters; it may have been more.
  expect(nameOf({ title: null, preview: `${'word '.repeat(15)}endin` })).toBe(`${'word '.repeat(15).trim()}…`);
  expect(nameOf({ title: 'Title', preview: 'x' })).toBe('Title');
});

it('finds rows by what they say, also by what is folded away in them', () => {
  const call = { kind: 'call', summary: 'Read `Gate.rs`', tool: 'read', output: { text: 'fn admit()' }, ask: null };
  const rows = [
    { type: 'said', key: 'a', seq: 1, item: { text: 'Look at the gate' } },
    { type: 'group', key: 'b', seq: 2, calls: [call], open: false },
    { type: 'group', key: 'c', seq: 3, calls: [call], open: true },
    { type: 'text', key: 'd', seq: 4, text: 'ADMIT it', streaming: false },
    { type: 'working', key: 'e', seq: 5 },
    { type: 'text', key: 'f', seq: 6, text: 'A **quo**kka\nlives in [the `gate`house](https://a.example/admit)\n\nof 2.5 (a+b)', streaming: false },
    { type: 'note', key: 'g', seq: 7, item: { text: 'The file `gate.rs` is gone.' } },
  ] as unknown as Row[];
  expect(rowsWith(rows, 'gate')).toEqual(['a', 'b', 'f', 'g']);
  // What is drawn, not how it was written: across marks and lines, not in addresses, not from one block into the next.
  expect(rowsWith(rows, 'QUOKKA lives  in the gatehouse')).toEqual(['f']);
  expect(rowsWith(rows, 'file gate.rs is')).toEqual(['g']);
  expect(rowsWith(rows, '2.5 (A+b)')).toEqual(['f']);
  expect(rowsWith(rows, 'gatehouse of')).toEqual([]);
  expect(rowsWith(rows, '**')).toEqual([]);
  expect(rowsWith(rows, ' admit ')).toEqual(['b', 'd']);
  expect(rowsWith(rows, '  ')).toEqual([]);
  expect(rowsWith(rows, 'nowhere')).toEqual([]);
});
