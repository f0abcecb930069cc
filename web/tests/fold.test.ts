import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event, Live, Recorded } from '../src/api/events';
import { advance, begin, isRunning, type Input, type View } from '../src/session/fold';
import { rowAt, rowsOf } from '../src/session/rows';

const NONE = new Set<string>();
let clock = 1_000;
function log(...events: Event[]): Recorded[] {
  return events.map((event, index) => ({ ...event, session: 's', seq: index + 1, at: (clock += 10) }));
}
const LIMITS = { rounds: null, tool_calls: null, wall_clock_ms: null, tokens: null, cost: null, failed_rounds: null, repeats: null };
const spent = { model: 'm', usage: { input: 10, output: 5 }, cost: 1_000_000, millis: 40 };
const fold = (events: Recorded[], from = 1) => advance(begin({ from }), events.map((event) => ({ event })));

/** A turn with reads, an approved command, a steer, a failed round, and a second turn under way. */
const STORY = log(
  { type: 'session_started', workspace: '/w', agent: 'weft', model: 'm', mode: 'ask', limits: LIMITS },
  { type: 'input_received', input: 'i1', content: [{ type: 'text', text: 'Look' }], delivery: 'follow_up' },
  { type: 'turn_started', turn: 1, inputs: ['i1'] },
  { type: 'round_started', round: 1, attempt: 1, model: 'm' },
  {
    type: 'round_answered', stop: 'tool_calls', spent,
    parts: [
      { type: 'thinking', text: 'Hm.' }, { type: 'text', text: 'I look.' },
      { type: 'tool_call', id: 'a', name: 'read', input: {} }, { type: 'tool_call', id: 'b', name: 'read', input: {} },
      { type: 'tool_call', id: 'c', name: 'shell', input: { command: 'make' } },
    ],
    plan: [{ access: 'read' }, { access: 'read' }, { access: 'run' }],
  },
  { type: 'tool_started', call: 'a', tool: 'read', summary: 'Read `a`' },
  { type: 'tool_started', call: 'b', tool: 'read', summary: 'Read `b`' },
  { type: 'tool_finished', call: 'b', tool: 'read', outcome: 'ok', output: { text: 'B', summary: 'Read `b`' }, millis: 3 },
  { type: 'tool_finished', call: 'a', tool: 'read', outcome: 'ok', output: { text: 'A', summary: 'Read `a`' }, millis: 2 },
  { type: 'ask_raised', ask: { id: 'q', call: 'c', kind: { type: 'approval', tool: 'shell', detail: 'make' }, question: 'Run `make`?' } },
  { type: 'input_received', input: 'i2', content: [{ type: 'text', text: 'Faster' }], delivery: 'steer' },
  { type: 'ask_answered', ask: 'q', answer: { type: 'approve', scope: 'once' }, by: 'web' },
  { type: 'tool_started', call: 'c', tool: 'shell', summary: 'Run `make`' },
  { type: 'tool_finished', call: 'c', tool: 'shell', outcome: 'failed', output: { text: 'no rule', summary: 'Ran `make`' }, millis: 900 },
  { type: 'round_started', round: 2, attempt: 1, model: 'm', steered: ['i2'] },
  { type: 'round_failed', failure: { kind: 'overloaded', message: 'Busy' }, retry_at: 99 },
  { type: 'round_started', round: 2, attempt: 2, model: 'm' },
  { type: 'round_answered', stop: 'end', spent, parts: [{ type: 'text', text: 'Done.' }] },
  { type: 'files_changed', turn: 1, before: 'x', after: 'y', files: [{ path: 'f', change: 'created', added: 1 }] },
  { type: 'turn_ended', turn: 1, reason: { reason: 'completed' } },
  { type: 'input_received', input: 'i3', content: [{ type: 'text', text: 'More' }], delivery: 'follow_up' },
  { type: 'turn_started', turn: 2, inputs: ['i3'] },
  { type: 'round_started', round: 1, attempt: 1, model: 'm' },
);

describe('the fold', () => {
  it('reads a log that a real session recorded', () => {
    const lines = readFileSync(new URL('recorded.jsonl', import.meta.url), 'utf8').trim().split('\n');
    const view = fold(lines.map((line) => JSON.parse(line) as Recorded));
    expect(view.seq).toBe(lines.length);
    expect(view.turns).toHaveLength(1);
    expect(isRunning(view)).toBe(false);
    const rows = rowsOf(view, NONE);
    expect(rows.map((row) => row.type)).toEqual(['said', 'note', 'call', 'text', 'end'].sort((a, b) => rows.findIndex((row) => row.type === a) - rows.findIndex((row) => row.type === b)));
    const call = view.turns[0]?.items.find((item) => item.kind === 'call');
    expect(call?.kind === 'call' && call.state).toBe('ok');
    expect(call?.kind === 'call' && call.ask?.answer?.by).toBe('cli');
    expect(view.turns[0]?.files.map((file) => file.path)).toEqual(['more.md']);
  });

  it('tells what happened in order', () => {
    const view = fold(STORY);
    const rows = rowsOf(view, NONE);
    expect(rows.map((row) => row.type)).toEqual(['said', 'thinking', 'text', 'group', 'call', 'said', 'note', 'text', 'end', 'said', 'working']);
    expect(view.turns[0]?.cost).toBe(2_000_000);
    expect(view.cost).toBe(2_000_000);
    expect(view.asks).toEqual([]);
    expect(view.queue).toEqual([]);
  });

  it('shows an open ask under its call and not after it is answered', () => {
    const raised = STORY.findIndex((event) => event.type === 'ask_raised') + 1;
    const open = rowsOf(fold(STORY.slice(0, raised)), NONE);
    expect(open.map((row) => row.type).slice(-2)).toEqual(['group', 'ask']);
    const answered = rowsOf(fold(STORY.slice(0, raised + 2)), NONE);
    expect(answered.some((row) => row.type === 'ask')).toBe(false);
  });

  it('leads from what was heard to its row, and a turn ends before what was said next', () => {
    const view = fold(STORY);
    const rows = rowsOf(view, NONE);
    for (const [words, heard] of [['Look', 2], ['Faster', 11], ['More', 21]] as const) {
      const row = rows[rowAt(rows, heard)];
      expect(row?.type === 'said' && row.item.text).toBe(words);
    }
    expect(view.turns[0]?.lastSeq).toBe(20);
    expect(rows[rowAt(rows, 20)]?.type).toBe('end');
  });

  it('tells how long was thought, and nothing where that is not known', () => {
    const at = STORY.findIndex((event) => event.type === 'round_answered');
    const round = STORY[at] as Extract<Recorded, { type: 'round_answered' }>;
    const thought = (change: Partial<typeof round>) => rowsOf(fold([...STORY.slice(0, at), { ...round, ...change }]), NONE).flatMap((row) => (row.type === 'thinking' ? [row.millis] : []));
    expect(thought({ thinking_millis: 3_200 })).toEqual([3_200]);
    expect(thought({}), 'the time of the round is not that of thinking').toEqual([null]);
    expect(thought({ thinking_millis: 3_200, parts: [{ type: 'thinking', text: 'a' }, { type: 'thinking', text: 'b' }] })).toEqual([null, null]);
    // Live it is measured as it is heard, without what was said in between.
    const live = (...heard: [Live, number][]) => {
      const view = advance(fold(STORY), heard.map(([one, when]) => ({ live: one, at: when })));
      return rowsOf(view, NONE).flatMap((row) => (row.type === 'thinking' ? [[row.streaming, row.since, row.millis]] : [])).slice(-1);
    };
    const think: Live = { type: 'thinking', text: 'Hm.' };
    const speak: Live = { type: 'text', text: 'So.' };
    expect(live([think, 1_000], [think, 2_000])).toEqual([[true, 1_000, null]]);
    expect(live([think, 1_000], [think, 2_000], [speak, 4_000], [speak, 9_000])).toEqual([[false, 1_000, 3_000]]);
    expect(live([think, 1_000], [{ type: 'tool_begun', call: 'z', name: 'shell' }, 1_500])).toEqual([[false, 1_000, 500]]);
    expect(live([think, 1_000], [speak, 4_000], [think, 9_000], [speak, 10_000])).toEqual([[false, 6_000, 4_000]]);
    expect(live([{ type: 'partial', text: '', thinking: 'I thi' }, 1_000], [think, 2_000], [speak, 3_000]), 'whoever comes later').toEqual([[false, null, null]]);
  });

  it('opens a group into its calls', () => {
    const view = fold(STORY);
    const group = rowsOf(view, NONE).find((row) => row.type === 'group');
    const rows = rowsOf(view, new Set([group?.key ?? '']));
    expect(rows.filter((row) => row.type === 'call')).toHaveLength(3);
  });

  it('begins in the middle and hides nothing that ran', () => {
    for (let from = 2; from <= STORY.length; from += 1) {
      const tail = STORY.slice(from - 1);
      const view = fold(tail, from);
      expect(view.seq).toBe(STORY.length);
      const finished = tail.filter((event) => event.type === 'tool_finished').length;
      const shown = view.turns.flatMap((turn) => turn.items).filter((item) => item.kind === 'call' && item.output).length;
      expect(shown).toBe(finished);
    }
  });

  it('refuses what comes after a gap and says so', () => {
    const view = advance(fold(STORY.slice(0, 5)), [{ event: STORY[8] as Recorded }]);
    expect(view.seq).toBe(5);
    expect(view.gap).toBe(true);
    expect(advance(view, STORY.slice(5).map((event) => ({ event }))).gap).toBe(false);
  });

  it('leaves the view it was given alone', () => {
    const before = fold(STORY.slice(0, 10));
    const copy = structuredClone(before);
    advance(before, [...STORY.slice(10).map((event) => ({ event })), { live: { type: 'text', text: 'x' } }]);
    expect(before).toEqual(copy);
  });

  it('shares the turns that did not change', () => {
    const before = fold(STORY);
    const after = advance(before, [{ live: { type: 'text', text: 'a' } }]);
    expect(after.turns).toBe(before.turns);
    expect(rowsOf(after, NONE)[0]).toBe(rowsOf(before, NONE)[0]);
  });

  it('folds 15,000 events of one turn quickly', () => {
    const events: Event[] = [STORY[0] as Event, { type: 'turn_started', turn: 1, inputs: [] }];
    for (let round = 0; round < 5_000; round += 1) {
      events.push({ type: 'round_answered', stop: 'tool_calls', spent, parts: [{ type: 'tool_call', id: `c${round}`, name: 'shell', input: {} }], plan: [{ access: 'run' }] });
      events.push({ type: 'tool_started', call: `c${round}`, tool: 'shell', summary: 'Run' });
      events.push({ type: 'tool_finished', call: `c${round}`, tool: 'shell', outcome: 'ok', output: { text: '', summary: 'Ran' }, millis: 1 });
    }
    const recorded = log(...events);
    const started = performance.now();
    const view = fold(recorded);
    expect(rowsOf(view, NONE).length).toBeGreaterThan(5_000);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('a stream, however it is cut', () => {
  /** The story with deltas in between, as a server that never fails would send it. */
  const whole: Input[] = [
    ...STORY.map((event) => ({ event })),
    { live: { type: 'thinking', text: 'I th' } }, { live: { type: 'thinking', text: 'ink.' } },
    { live: { type: 'text', text: 'Hel' } }, { live: { type: 'text', text: 'lo' } },
    { live: { type: 'tool_begun', call: 'z', name: 'shell' } },
  ];
  const expected = advance(begin({ from: 1 }), whole);

  it('gives the same view in any batches', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (sizes) => {
      let view: View = begin({ from: 1 });
      let at = 0;
      let turn = 0;
      while (at < whole.length) {
        const size = sizes[turn++ % sizes.length] ?? 1;
        view = advance(view, whole.slice(at, at + size));
        at += size;
      }
      expect(view).toEqual(expected);
    }));
  });

  it('gives the same view over reconnects that send again what is known', () => {
    const cut = fc.record({ at: fc.integer({ min: 0, max: whole.length }), back: fc.integer({ min: 0, max: 6 }) });
    fc.assert(fc.property(fc.array(cut, { maxLength: 5 }), (cuts) => {
      let view: View = begin({ from: 1 });
      let at = 0;
      for (const { at: end, back } of [...cuts].sort((a, b) => a.at - b.at)) {
        view = advance(view, whole.slice(at, end));
        at = Math.max(at, end);
        // The server sends events from an earlier one on, then what has been streamed of the round.
        const known = whole.slice(0, at);
        const again = known.filter((input) => 'event' in input && input.event.seq > view.seq - back);
        const streamed = known.flatMap((input) => ('live' in input ? [input.live] : []));
        const said = (type: 'text' | 'thinking') => streamed.flatMap((live: Live) => (live.type === type ? [live.text] : [])).join('');
        view = advance(view, again);
        if (streamed.length > 0) view = advance(view, [{ live: { type: 'partial', text: said('text'), thinking: said('thinking') } }]);
      }
      view = advance(view, whole.slice(at));
      expect(view).toEqual(expected);
    }));
  });

  it('gives the same turns when earlier pages come later', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: STORY.length }), (from) => {
      const late = fold(STORY.slice(from - 1), from);
      expect(late.seq).toBe(STORY.length);
      expect(fold(STORY)).toEqual(fold([...STORY.slice(0, from - 1), ...STORY.slice(from - 1)]));
    }));
  });
});
