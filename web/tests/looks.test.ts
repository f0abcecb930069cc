import { expect, it } from 'vitest';
import type { Recorded } from '../src/api/events';
import { COLOURS, labelColour } from '../src/inbox/statuses';
import { cardOf, matches, traceId, turnsOf } from '../src/panel/trace';
import { tooLarge } from '../src/session/Composer';

it('gives a label its own colour, or that of the next above it', () => {
  const [red, blue] = [COLOURS['Red']!, COLOURS['Blue']!];
  const colours = { work: red, 'work/urgent/today': blue };
  expect(labelColour(colours, 'work')).toBe(red);
  expect(labelColour(colours, 'work/urgent')).toBe(red);
  expect(labelColour(colours, 'work/urgent/today')).toBe(blue);
  expect(labelColour(colours, 'workshop')).toBeNull();
  expect(labelColour({}, 'work/urgent')).toBeNull();
});

const log = (types: [string, number?][], from = 1): Recorded[] =>
  types.map(([type, turn], index) => ({ session: 'abc', seq: from + index, at: 0, type, ...(turn === undefined ? {} : { turn, inputs: [], reason: { reason: 'completed' } }), ...(type === 'input_received' ? { input: 'i', content: [{ type: 'text', text: 'words' }], delivery: 'follow_up' } : {}) }) as unknown as Recorded);

it('puts what was said before a turn into the turn that took it up', () => {
  const events = log([['session_started'], ['input_received'], ['turn_started', 1], ['round_started'], ['turn_ended', 1], ['input_received'], ['turn_started', 2], ['round_started']]);
  expect([...turnsOf(events)].sort((a, b) => a[0] - b[0])).toEqual([[1, 1], [2, 1], [3, 1], [4, 1], [5, 1], [6, 2], [7, 2], [8, 2]]);
  // Only the end of a turn is known, and what was said last is not taken up yet.
  expect(turnsOf(log([['round_started'], ['turn_ended', 7], ['input_received']], 50))).toEqual(new Map([[50, 7], [51, 7]]));
});

it('finds a turn by its trace id and nothing else', () => {
  const events = log([['input_received'], ['turn_started', 1], ['turn_ended', 1], ['input_received'], ['turn_started', 2], ['turn_ended', 2]]);
  const turns = turnsOf(events);
  const found = (wanted: string) => events.filter((event) => matches(cardOf(event), event, wanted, traceId('abc', turns.get(event.seq)))).map((event) => event.seq);
  expect(found('abc.2')).toEqual([4, 5, 6]);
  expect(found('abc.9')).toEqual([]);
  expect(found('abc')).toEqual([1, 2, 3, 4, 5, 6]);
  expect(found('#3')).toEqual([3]);
});

it('refuses files that no model takes', () => {
  const file = (type: string, size: number) => tooLarge({ name: 'f', type, size });
  expect(file('text/plain', 256 * 1024)).toBeNull();
  expect(file('text/plain', 256 * 1024 + 1)).toMatch(/256 KB/);
  expect(file('', 300_000)).toMatch(/256 KB/);
  expect(file('image/png', 5 * 1024 * 1024)).toBeNull();
  expect(file('image/png', 5 * 1024 * 1024 + 1)).toMatch(/5 MB/);
});
