/** Runs of flows, folded from the same events as everything else: where each stage stands, what it gave, what it cost. Pure. */
import type { FlowEnd, Recorded, SessionId } from '../api/events';

export type StageState = 'waiting' | 'running' | 'done' | 'skipped' | 'failed' | 'stopped';
export interface StageView {
  id: string;
  title: string;
  state: StageState;
  /** How often it was gone through again. */
  iteration: number;
  /** How it went, in words; or why it was left out or failed. */
  summary: string;
  output: unknown;
  startedAt: number | null;
  millis: number;
  /** In billionths of a dollar. */
  cost: number;
  seq: number;
}
export interface RunView {
  number: number;
  flow: string;
  title: string;
  question: string;
  seq: number;
  startedAt: number;
  stages: StageView[];
  /** A person is asked before it goes on. */
  paused: boolean;
  /** Its turn ended before it did; it can be carried on. */
  stopped: boolean;
  settings: unknown;
  prior: { session: SessionId; run: number; question: string } | null;
  end: FlowEnd | null;
  endedAt: number | null;
  document: string | null;
}

const isOpen = (run: RunView) => run.end === null && !run.stopped;
/** The run whose turn this is; nothing between runs. */
export const openRun = (runs: readonly RunView[]): RunView | null => runs.findLast(isOpen) ?? null;

function changed(runs: readonly RunView[], number: number, change: (run: RunView) => Partial<RunView>): RunView[] {
  return runs.map((run) => (run.number === number ? { ...run, ...change(run) } : run));
}
function stage(run: RunView, id: string, change: (stage: StageView) => Partial<StageView>): Pick<RunView, 'stages'> {
  return { stages: run.stages.map((one) => (one.id === id ? { ...one, ...change(one) } : one)) };
}
const took = (one: StageView, at: number) => (one.startedAt === null ? one.millis : one.millis + Math.max(0, at - one.startedAt));

/** The runs after this event; the same list where it is not about one. */
export function flowed(runs: readonly RunView[], event: Recorded): readonly RunView[] {
  const { seq, at } = event;
  switch (event.type) {
    case 'flow_started': {
      const { run: number, flow, title, question, settings, prior } = event;
      const stages = event.stages.map(({ id, title }): StageView => ({ id, title, state: 'waiting', iteration: 0, summary: '', output: null, startedAt: null, millis: 0, cost: 0, seq }));
      const begun: RunView = {
        number, flow, title, question, settings, stages, seq, startedAt: at, paused: false, stopped: false, end: null, endedAt: null, document: null,
        prior: prior ? { session: prior.session, run: prior.run, question: prior.question } : null,
      };
      return [...runs.filter((run) => run.number !== number), begun];
    }
    case 'stage_started':
      return changed(runs, event.run, (run) => ({ ...stage(run, event.stage, () => ({ state: 'running', iteration: event.iteration, startedAt: at, seq })), paused: false }));
    case 'stage_finished':
      return changed(runs, event.run, (run) => stage(run, event.stage, (one) => ({ state: 'done', summary: event.summary, output: event.output, millis: took(one, at), startedAt: null, seq })));
    case 'stage_skipped':
      return changed(runs, event.run, (run) => stage(run, event.stage, () => ({ state: 'skipped', summary: event.why, output: event.output, startedAt: null, seq })));
    case 'stage_failed':
      return changed(runs, event.run, (run) => stage(run, event.stage, (one) => ({ state: 'failed', summary: event.message, millis: took(one, at), startedAt: null, seq })));
    case 'flow_paused':
      return changed(runs, event.run, () => ({ paused: true }));
    case 'turn_ended':
      return runs.some(isOpen) ? runs.map((run) => (isOpen(run) ? { ...run, stopped: true, stages: run.stages.map((one) => (one.state === 'running' ? { ...one, state: 'stopped', millis: took(one, at), startedAt: null } : one)) } : run)) : runs;
    case 'flow_continued':
      return changed(runs, event.run, (run) => ({ paused: false, stopped: false, stages: run.stages.map((one) => (one.state === 'stopped' ? { ...one, state: 'running', startedAt: at } : one)) }));
    case 'flow_resumed':
    case 'repair_started':
      return changed(runs, event.run, () => ({ paused: false }));
    case 'flow_ended':
      return changed(runs, event.run, () => ({ end: event, endedAt: at, paused: false, document: event.document ?? null }));
    default:
      return runs;
  }
}

/** What was paid goes to the stage that runs; at a pause to the one that comes next. */
export function charged(runs: readonly RunView[], cost: number): readonly RunView[] {
  const open = openRun(runs);
  const running = open?.stages.find((one) => one.state === 'running') ?? open?.stages.find((one) => one.state === 'waiting');
  return open && running ? changed(runs, open.number, (run) => stage(run, running.id, (one) => ({ cost: one.cost + cost }))) : runs;
}

/** The name of a stage, as far as its run is known. */
export function stageTitle(runs: readonly RunView[], number: number, id: string): string {
  return runs.find((run) => run.number === number)?.stages.find((one) => one.id === id)?.title ?? id;
}

// ---- what the stages of a research run give, read with care: it is JSON that another version may have written

const record = (value: unknown): Record<string, unknown> => (value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

export interface Paragraph {
  id: string;
  /** As it is cited. */
  cite: string;
  text: string;
  section: string;
  source: string;
  page: number | null;
  tier: string;
}
export interface Check {
  claim: string;
  axis: string;
  item: string;
  verdict: string;
  why: string;
}
export interface Verified {
  scores: [string, number][];
  status: string;
  checks: Check[];
  /** Each statement of the answer, with what of it does not hold. */
  statements: { claim: string; fails: Check[] }[];
}

/** The corpus that a run asks. */
export const corpusOf = (run: RunView): string => text(record(run.settings)['corpus']);

/** Two corpora may both have a 3.8. */
export const sourceKey = (run: RunView, id: string): string => `${corpusOf(run)}/${id}`;

const outputs = (run: RunView) => run.stages.map((one) => record(one.output));

/** The paragraphs that the answer cites, by their ids. */
export function paragraphsOf(run: RunView): Paragraph[] {
  const found = new Map<string, Paragraph>();
  const add = (id: string, value: unknown) => {
    const given = record(value);
    if (!id || !text(given['text'])) return;
    found.set(id, { id, cite: text(given['cite']) || id, text: text(given['text']), section: text(given['section']), source: text(given['source']), page: number(given['page']), tier: text(given['tier']) });
  };
  for (const output of outputs(run)) {
    for (const paragraph of list(output['paragraphs'])) add(text(record(paragraph)['id']), paragraph);
    for (const [id, paragraph] of Object.entries(record(output['source_texts']))) add(id, paragraph);
  }
  return [...found.values()];
}

/** The ids of those that the answer cites. */
export function citedBy(run: RunView): ReadonlySet<string> {
  return new Set(outputs(run).flatMap((output) => Object.keys(record(output['source_texts']))));
}

export function verificationOf(run: RunView): Verified | null {
  const judged = outputs(run).findLast((output) => Array.isArray(output['checks']));
  if (!judged) return null;
  const claims = list(outputs(run).findLast((output) => Array.isArray(output['claims']))?.['claims']).map((claim) => text(record(claim)['text']));
  const checks = list(judged['checks']).map((one): Check => {
    const check = record(one);
    return { claim: claims[number(check['claim']) ?? -1] ?? '', axis: text(check['axis']), item: text(check['item']), verdict: text(check['verdict']), why: text(check['why']) };
  });
  const scores = Object.entries(record(judged['scores'])).flatMap(([name, value]): [string, number][] => (number(value) === null ? [] : [[name, number(value) ?? 0]]));
  const statements = claims.map((claim) => ({ claim, fails: checks.filter((check) => check.claim === claim && check.verdict === 'fails') }));
  return { scores, status: text(judged['status']), checks, statements };
}

export function queriesOf(run: RunView): { query: string; role: string; targets: string[] }[] {
  const plan = outputs(run).find((output) => Array.isArray(output['sub_queries']));
  return list(plan?.['sub_queries']).map((one) => {
    const query = record(one);
    return { query: text(query['query']), role: text(query['role']), targets: list(query['targets']).map(text).filter(Boolean) };
  });
}

/** The paragraphs that a bracket names; nothing where it is a remark. */
export function citedIn(inside: string, known: ReadonlyMap<string, Paragraph>): Paragraph[] | null {
  const found: Paragraph[] = [];
  let prefix = '';
  for (const part of inside.split(/[,;]| and /).map((one) => one.trim())) {
    // `(HHS 3.8, 3.9)` names two paragraphs of one text.
    const paragraph = known.get(part) ?? known.get(`${prefix} ${part}`.trim());
    if (!paragraph) return null;
    prefix = paragraph.cite.endsWith(paragraph.id) ? paragraph.cite.slice(0, -paragraph.id.length).trim() : '';
    found.push(paragraph);
  }
  return found.length > 0 ? found : null;
}

/** By the name they are cited under and by their id. */
export const byName = (paragraphs: readonly Paragraph[]) => new Map(paragraphs.flatMap((one): [string, Paragraph][] => [[one.cite, one], [one.id, one]]));

/** A pause's text without the parts that fold away, and those parts. */
export function withoutDetails(markdown: string): { text: string; details: { title: string; text: string }[] } {
  const details: { title: string; text: string }[] = [];
  const kept = markdown.replace(/<details>\s*<summary>([^<]*)<\/summary>([\s\S]*?)<\/details>/g, (_, title: string, inside: string) => {
    details.push({ title: title.trim(), text: inside.trim() });
    return '';
  });
  return { text: kept.trim(), details };
}
