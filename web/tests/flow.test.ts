import { expect, test } from 'vitest';
import type { Event, Recorded } from '../src/api/events';
import { namesOf } from '../src/research/cites';
import { substepsOf } from '../src/research/substeps';
import { byName, citedBy, citedIn, openRun, paragraphsOf, queriesOf, sourceKey, verificationOf, withoutDetails } from '../src/session/flow';
import { advance, begin } from '../src/session/fold';
import { rowsOf } from '../src/session/rows';

const spent = { model: 'm', usage: { input: 10, output: 5 }, cost: 3_000_000, millis: 40 };
const paragraph = { id: '3.8', cite: 'HHS 3.8', text: 'Records are kept for six years.', section: 'Records', source: '03.md', line: 4, tier: 'primary', folder: 0 };
const LOG: Event[] = [
  { type: 'input_received', input: 'i1', content: [{ type: 'text', text: 'How long?' }], delivery: 'follow_up' },
  { type: 'turn_started', turn: 1, inputs: ['i1'] },
  { type: 'flow_started', run: 1, flow: 'research', title: 'Research', question: 'How long?', stages: [{ id: 'analyse', title: 'Analyse' }, { id: 'calibrate', title: 'Calibrate' }, { id: 'verify', title: 'Verify' }], settings: {}, definition: {} },
  { type: 'stage_started', run: 1, stage: 'analyse', iteration: 0 },
  { type: 'round_started', round: 1, attempt: 1, model: 'm' },
  { type: 'round_answered', parts: [{ type: 'text', text: '{"sub_queries": []}' }], stop: 'end', spent },
  { type: 'stage_finished', run: 1, stage: 'analyse', output: { sub_queries: [{ query: 'retention', role: 'primary', targets: ['HHS 3'] }] }, summary: '1 search planned' },
  { type: 'flow_paused', run: 1, stage: 'analyse', text: '## Plan\n\n<details><summary>Full plan (JSON)</summary>\n\n```json\n{}\n```\n\n</details>\n', path: 'model' },
  { type: 'stage_calls', run: 1, stage: 'analyse', calls: [{ id: 'f1', name: 'ask_user', input: {} }], plan: [{ access: 'read' }] },
  { type: 'ask_raised', ask: { id: 'q1', call: 'f1', kind: { type: 'question', options: ['Go on', 'Exit'] }, question: 'Go on with this plan?' } },
  { type: 'ask_answered', ask: 'q1', answer: { type: 'text', text: 'Go on' }, by: 'web' },
  { type: 'tool_finished', call: 'f1', tool: 'ask_user', outcome: 'ok', output: { text: 'Go on', summary: 'Answered' }, millis: 1 },
  { type: 'flow_resumed', run: 1, stage: 'analyse', reply: 'Go on' },
  { type: 'stage_skipped', run: 1, stage: 'calibrate', why: 'No web search here', output: null },
  { type: 'stage_started', run: 1, stage: 'verify', iteration: 0 },
  { type: 'stage_finished', run: 1, stage: 'verify', output: { status: 'passed', scores: { citation: 1, contradictions: 0 }, claims: [{ text: 'Six years.', cites: ['3.8'] }], checks: [{ claim: 0, axis: 'citation', item: '3.8', verdict: 'holds', why: '' }], source_texts: { '3.8': paragraph } }, summary: 'All hold' },
  { type: 'flow_ended', run: 1, reason: 'completed', document: 'They are kept for six years (HHS 3.8).', summary: 'Six years.' },
  { type: 'turn_ended', turn: 1, reason: { reason: 'completed' } },
];
const recorded: Recorded[] = LOG.map((event, index) => ({ ...event, session: 's', seq: index + 1, at: 1_000 + index * 100 }));
const fold = (upto = recorded.length) => advance(begin({ from: 1 }), recorded.slice(0, upto).map((event) => ({ event })));

test('a run is told stage by stage, with what each cost and gave', () => {
  const run = fold().runs[0]!;
  expect(run.stages.map(({ id, state, summary, cost }) => [id, state, summary, cost])).toEqual([
    ['analyse', 'done', '1 search planned', 3_000_000], ['calibrate', 'skipped', 'No web search here', 0], ['verify', 'done', 'All hold', 0],
  ]);
  expect(run.stages[0]!.millis).toBe(300);
  expect(run.end?.reason).toBe('completed');
  expect(queriesOf(run)).toEqual([{ query: 'retention', role: 'primary', targets: ['HHS 3'] }]);
  expect(verificationOf(run)).toMatchObject({ status: 'passed', scores: [['citation', 1], ['contradictions', 0]], checks: [{ claim: 'Six years.', verdict: 'holds' }], statements: [{ claim: 'Six years.', fails: [] }] });
});

test('a run whose turn ended is stopped, its clock stands, and the conversation is free', () => {
  const ended: Event = { type: 'turn_ended', turn: 1, reason: { reason: 'interrupted' } };
  const cut = recorded.slice(0, 5);
  const at = (event: Event, index: number): Recorded => ({ ...event, session: 's', seq: cut.length + index + 1, at: 5_000 + index * 1_000 });
  const stopped = advance(begin({ from: 1 }), [...cut, at(ended, 0)].map((event) => ({ event })));
  const run = stopped.runs[0]!;
  expect([run.stopped, openRun(stopped.runs), run.stages[0]!.state, run.stages[0]!.startedAt, run.stages[0]!.millis]).toEqual([true, null, 'stopped', null, 3_700]);
  const again = advance(stopped, [at({ type: 'turn_started', turn: 2, inputs: [] }, 1), at({ type: 'flow_continued', run: 1 }, 2)].map((event) => ({ event })));
  expect([again.runs[0]!.stopped, again.runs[0]!.stages[0]!.state, again.runs[0]!.stages[0]!.startedAt]).toEqual([false, 'running', 7_000]);
});

test('names in running text lead to their paragraphs, and longer numbers are others', () => {
  const run = fold().runs[0]!;
  const names = namesOf(byName(paragraphsOf(run)))!;
  expect('According to HHS 3.8, and HHS 3.81 or HHS 3.8.1 or 3.8, see HHS 3.8.'.match(names)).toEqual(['HHS 3.8', 'HHS 3.8']);
  expect(namesOf(new Map())).toBeNull();
  expect([...citedBy(run)]).toEqual(['3.8']);
  expect(sourceKey({ ...run, settings: { corpus: 'a' } }, '3.8')).toBe('a/3.8');
});

test('what a model says within a stage is working material, and the document is not', () => {
  const rows = rowsOf(fold(), new Set());
  expect(rows.map((row) => row.type)).toEqual(['said', 'stage', 'thinking', 'pause', 'call', 'stage', 'stage', 'document', 'end']);
  const paused = fold(10);
  expect(paused.runs[0]!.paused).toBe(true);
  expect(rowsOf(paused, new Set()).at(-1)?.type).toBe('ask');
});

test('it is the same however the log is cut', () => {
  for (let cut = 1; cut < recorded.length; cut += 1) {
    const first = advance(begin({ from: 1 }), recorded.slice(0, cut).map((event) => ({ event })));
    expect(advance(first, recorded.map((event) => ({ event }))).runs).toEqual(fold().runs);
  }
  // Joined in the middle, the stages still have their places.
  const late = advance(begin({ from: 15 }), recorded.slice(14).map((event) => ({ event })));
  expect(late.runs).toEqual([]);
  expect(rowsOf(late, new Set()).map((row) => row.type)).toEqual(['stage', 'document', 'end']);
});

test('citations are known by name or number, and a remark stays a remark', () => {
  const known = byName([...paragraphsOf(fold().runs[0]!), { ...paragraphsOf(fold().runs[0]!)[0]!, id: '3.9', cite: 'HHS 3.9' }]);
  expect(citedIn('HHS 3.8, 3.9', known)?.map((one) => one.id)).toEqual(['3.8', '3.9']);
  expect(citedIn('as it says', known)).toBeNull();
  expect(citedIn('HHS 3.8 and more', known)).toBeNull();
  expect(withoutDetails('a\n<details><summary>T</summary>\nb\n</details>\nc')).toEqual({ text: 'a\n\nc', details: [{ title: 'T', text: 'b' }] });
});

test('the stage under way shows its calls as they come; a question to the person is none of them', () => {
  const at = recorded.findIndex((event) => event.type === 'stage_finished' && event.stage === 'verify');
  const more: Event[] = [
    { type: 'stage_calls', run: 1, stage: 'verify', calls: [{ id: 'f2', name: 'corpus_verify', input: {} }, { id: 'f3', name: 'corpus_verify', input: {} }], plan: [{ access: 'read' }, { access: 'read' }] },
    { type: 'tool_finished', call: 'f2', tool: 'corpus_verify', outcome: 'ok', output: { text: '', summary: 'Verify the citations, all hold' }, millis: 3 },
  ];
  const until = recorded.slice(0, at);
  const events = [...until, ...more.map((event, index): Recorded => ({ ...event, session: 's', seq: at + index + 1, at: 9_000 + index }))];
  const view = advance(begin({ from: 1 }), events.map((event) => ({ event })));
  const steps = substepsOf(view.turns, 1);
  expect(steps.get('analyse')).toEqual([]);
  expect(steps.get('verify')?.map((call) => [call.tool, call.state === 'ok', call.summary])).toEqual([['corpus_verify', true, 'Verify the citations, all hold'], ['corpus_verify', false, expect.any(String)]]);
  expect(substepsOf(view.turns, 2).size).toBe(0);
});

test('what is said at a pause is heard, and waits for nothing more', () => {
  const at = recorded.findIndex((event) => event.type === 'ask_answered');
  const after = (more: Event[]) => {
    const events = [...recorded.slice(0, at), ...more.map((event, index): Recorded => ({ ...event, session: 's', seq: at + index + 1, at: 9_000 + index }))];
    return advance(begin({ from: 1 }), events.map((event) => ({ event })));
  };
  const spoken: Event = { type: 'input_received', input: 'i2', content: [{ type: 'text', text: 'and paper files' }], delivery: 'steer' };
  expect(after([spoken]).queue.map((queued) => queued.text)).toEqual(['and paper files']);
  const heard: Event[] = [
    { type: 'flow_resumed', run: 1, stage: 'analyse', reply: 'and paper files', inputs: ['i2'] },
    { type: 'breakout_asked', run: 1, said: 'and paper files', inputs: ['i2'] },
    { type: 'flow_ended', run: 1, reason: 'breakout', summary: '', inputs: ['i2'] },
  ];
  for (const event of heard) {
    const view = after([spoken, event]);
    expect(view.queue, event.type).toEqual([]);
    expect(view.turns.flatMap((turn) => turn.items).filter((item) => item.kind === 'said').map((item) => item.text), event.type).toEqual(['How long?', 'and paper files']);
  }
});
