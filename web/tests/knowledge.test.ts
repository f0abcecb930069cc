/** The neighbourhood's picture, and the words about the index. */
import { expect, test } from 'vitest';
import { BOX_HEIGHT, draw, shortened } from '../src/knowledge/graph';
import { scored } from '../src/knowledge/Verify';
import { said, workSaid } from '../src/knowledge/IndexBar';
import { asked, dayMs, placeOf, placeText, type KnowledgeStatus, type Neighbour, type Work } from '../src/knowledge/knowledge';
import { limited } from '../src/knowledge/Filters';
import { why } from '../src/knowledge/Preview';
import { summary } from '../src/knowledge/KnowledgePage';

const neighbour = (index: number): Neighbour => ({ path: `src/${index}.rs`, line: index + 1, kind: 'function', name: `a_long_name_of_a_function_${index}`, context: '', edge: 'calls', at: 'x', depth: 1, confidence: index % 2 ? 1 : 0.5 });
const here = { name: 'open', context: 'Store', path: 'src/store.rs', kind: 'method' };
const many = (count: number) => Array.from({ length: count }, (_, index) => neighbour(index));

test.each([320, 619, 620, 900, 1400])('no box covers another one or leaves the picture at %i px', (width) => {
  for (const [before, after] of [[0, 0], [1, 0], [0, 3], [7, 7], [24, 24]] as const) {
    const drawing = draw(here, many(before), many(after), width);
    for (const [index, one] of drawing.boxes.entries()) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.y).toBeGreaterThanOrEqual(0);
      expect(one.x + one.width).toBeLessThanOrEqual(drawing.width + 0.5);
      expect(one.y + BOX_HEIGHT).toBeLessThanOrEqual(drawing.height + 0.5);
      for (const other of drawing.boxes.slice(index + 1)) {
        const apart = one.x + one.width <= other.x || other.x + other.width <= one.x || one.y + BOX_HEIGHT <= other.y || other.y + BOX_HEIGHT <= one.y;
        expect(apart, `${one.id} and ${other.id} at ${width}`).toBe(true);
      }
    }
    expect(drawing.boxes.length - 1 + drawing.hidden.before + drawing.hidden.after).toBe(before + after);
    expect(drawing.lines.length).toBe(drawing.boxes.length - 1);
  }
});

test('names are cut where they would leave their box', () => {
  expect(shortened('short', 200)).toBe('short');
  expect(shortened('x'.repeat(100), 120).length).toBeLessThan(16);
});

test('a place in the address is read back as it was written', () => {
  expect(placeOf(placeText({ path: 'a b/c:d.rs', line: 12 }))).toEqual({ path: 'a b/c:d.rs', line: 12 });
  for (const text of [undefined, '', 'a.rs', ':3', 'a.rs:0', 'a.rs:x']) expect(placeOf(text)).toBeNull();
});

test('the index says how it stands', () => {
  const status: KnowledgeStatus = { known: true, root: '/x', files: 1, not_searched: 0, nodes: 1, edges: 1, chunks: 1200, disk_bytes: 1, model: 'm', wanted_model: null, without_meaning: 0, up_to_date: true, notices: [], work: null, watch: null };
  expect(said(status)).toBe('1 file · 1,200 pieces of text · up to date');
  expect(said({ ...status, known: false })).toBe('Nothing is known of this folder yet.');
  const work: Work = { kind: 'index', running: true, done: 3, of: 10, bytes: 0, finishing: false, report: null, error: null };
  expect(workSaid(work)).toBe('Reading files: 3 of 10');
  expect(workSaid({ ...work, running: false, error: 'No.' })).toBe('No.');
  expect(workSaid({ ...work, kind: 'renew' })).toBe('Making vectors with the new model: 3 of 10');
  const report = { files: 5, changed: 2, removed: 0, seconds: 1, stopped: false, passed: [], passed_count: 0, trouble: [], bytes: 2_000_000, without_meaning: 'Nobody answered.' };
  expect(workSaid({ ...work, running: false, report })).toBe('2 of 5 files taken in, 1.0 s, 2.0 MB/s. Nobody answered.');
  expect(summary('x', true, null, { hits: 1, ms: 2.345 })).toBe('1 result in 2.3 ms');
  expect(summary('x', false, null, null)).toContain('Index this folder first');
});

test('days limit a search to all of them', () => {
  const day = 24 * 60 * 60 * 1000;
  expect(dayMs('2026-01-31', true)! - dayMs('2026-01-31')!).toBe(day);
  expect(asked({ kind: 'function', since: '2026-01-31', until: '2026-01-31' })).toMatchObject({ kind: 'function', since: dayMs('2026-01-31'), until: dayMs('2026-02-01')! - 1 });
  for (const text of [undefined, '', 'yesterday', '2026-1-1']) expect(dayMs(text)).toBeUndefined();
  expect(limited({ domain: 'code', kind: 'test', until: '2026-01-31' })).toBe(2);
});

test('a hit says why it ranked', () => {
  expect(why({ score: 0.9, parts: { text: 0.6, vector: 0.3, name: 0, graph: 0.001 } })).toBe('Score 0.90: words 0.60, meaning 0.30');
  expect(why({ score: 0, parts: { text: 0, vector: 0, name: 0, graph: 0 } })).toBe('Score 0.00');
});

test('a checked answer is summed up', () => {
  const none = { entity: 1, citation: 1, relation: 1, contradictions: 0, claims: [], checks: [] };
  expect(scored(none)).toContain('nothing to check');
  const check = { axis: 'citation' as const, claim: 0, item: '4.1', why: '', evidence: [] };
  const some = { ...none, citation: 0.5, claims: [{ text: 'So it is.', cites: ['4.1'] }], checks: [{ ...check, holds: true }, { ...check, holds: false }] };
  expect(scored(some)).toBe('1 of 2 checks hold. Citations 50%, names and numbers 100%, relations 100%, contradictions 0.');
});
