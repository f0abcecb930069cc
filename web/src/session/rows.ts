/**
 * The session's view as a flat list of rows, so that a turn of any length can be drawn a window at a time.
 * Pure: what is open and what is not is handed in. Quiet steps (reads and searches that went well) that
 * follow each other become one row that folds open.
 */
import { openRun, type RunView } from './flow';
import type { Asked, Call, Item, Note, Prose, Said, SessionView, Staged, Turn } from './fold';
import { isRunning, proseKey } from './fold';
import { counted } from './words';

export type Row =
  | { type: 'said'; key: string; seq: number; item: Said; turn: Turn }
  | { type: 'text'; key: string; seq: number; text: string; streaming: boolean }
  | { type: 'thinking'; key: string; seq: number; text: string; streaming: boolean; millis: number | null; since?: number | null; draft?: boolean }
  | { type: 'group'; key: string; seq: number; calls: Call[]; open: boolean }
  | { type: 'call'; key: string; seq: number; call: Call; output: string | null; nested: boolean }
  | { type: 'ask'; key: string; seq: number; asked: Asked }
  | { type: 'note'; key: string; seq: number; item: Note }
  | { type: 'stage'; key: string; seq: number; item: Staged; run: RunView | undefined }
  | { type: 'pause'; key: string; seq: number; text: string }
  | { type: 'document'; key: string; seq: number; text: string; run: RunView | undefined }
  | { type: 'writing'; key: string; seq: number; name: string }
  | { type: 'working'; key: string; seq: number; phase: SessionView['phase']; retryAt: number | null; since: number; notice: string | null }
  | { type: 'end'; key: string; seq: number; turn: Turn; last: boolean; canUndo: boolean };

interface Cached {
  open: ReadonlySet<string>;
  last: boolean;
  canUndo: boolean;
  outputs: Record<string, string>;
  runs: readonly RunView[];
  rows: Row[];
}
const cache = new WeakMap<Turn, Cached>();
const NO_OUTPUTS: Record<string, string> = {};

export function rowsOf(view: SessionView, open: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const running = isRunning(view);
  // Files are taken back turn by turn, the latest first.
  const undoable = running ? undefined : view.turns.findLast((turn) => turn.files.length > 0 && !turn.undone);
  view.turns.forEach((turn, index) => {
    const last = index === view.turns.length - 1;
    const canUndo = turn === undoable;
    // What streams beside a turn does not change the turn, so its rows stay the same objects.
    const outputs = last && running ? view.live.outputs : NO_OUTPUTS;
    let kept = cache.get(turn);
    if (!kept || kept.open !== open || kept.last !== last || kept.canUndo !== canUndo || kept.outputs !== outputs || kept.runs !== view.runs) {
      const made = turnRows(turn, open, outputs, view.runs);
      if (turn.endedAt !== null) made.push({ type: 'end', key: `e${turn.seq}`, seq: turn.lastSeq, turn, last, canUndo });
      kept = { open, last, canUndo, outputs, runs: view.runs, rows: made };
      cache.set(turn, kept);
    }
    for (const row of kept.rows) rows.push(row);
  });
  const last = view.turns.at(-1);
  if (running && last) rows.push(...streamingRows(view, last));
  // Asks whose call is on an earlier page still have their place.
  const shown = new Set(rows.flatMap((row) => (row.type === 'ask' ? [row.asked.ask.id] : [])));
  for (const asked of view.asks) {
    if (!shown.has(asked.ask.id)) rows.push({ type: 'ask', key: `a${asked.ask.id}`, seq: asked.seq, asked });
  }
  return rows;
}

/** The row that tells of this event: what was said with it, else the last one that began by then, or the first there is. */
export function rowAt(rows: readonly Row[], seq: number): number {
  const said = rows.findIndex((row) => row.type === 'said' && row.item.heard === seq);
  if (said >= 0) return said;
  const index = rows.findLastIndex((row) => row.seq <= seq);
  return index < 0 && rows.length > 0 ? 0 : index;
}

function streamingRows(view: SessionView, turn: Turn): Row[] {
  const rows: Row[] = [];
  const base = proseKey(turn, view.round);
  const { text, thinking, thinkingSince: since, thinkingUntil: until, begun } = view.live;
  if (thinking.trim()) {
    rows.push({ type: 'thinking', key: `${base}h0`, seq: view.seq, text: thinking, streaming: text === '' && begun.length === 0, millis: since === null || until === null ? null : until - since, since });
  }
  if (text.trim() && openRun(view.runs)) rows.push({ type: 'thinking', key: `${base}x0`, seq: view.seq, text, streaming: true, millis: null, draft: true });
  else if (text.trim()) rows.push({ type: 'text', key: `${base}x0`, seq: view.seq, text, streaming: true });
  for (const call of begun) rows.push({ type: 'writing', key: `w${call.call}`, seq: view.seq, name: call.name });
  const quiet = text === '' && begun.length === 0 && view.asks.length === 0;
  const calls = turn.items.some((item) => item.kind === 'call' && item.state === 'running');
  if (quiet && !calls) {
    rows.push({
      type: 'working', key: `p${turn.seq}`, seq: view.seq, phase: view.phase, retryAt: view.retryAt, since: turn.startedAt,
      notice: view.notice,
    });
  }
  return rows;
}

const isQuiet = (item: Item): item is Call =>
  item.kind === 'call' && item.access === 'read' && item.state === 'ok' && item.ask === null && !item.output?.images?.length &&
  item.output?.display === undefined;

function turnRows(turn: Turn, open: ReadonlySet<string>, outputs: Record<string, string>, runs: readonly RunView[]): Row[] {
  const rows: Row[] = [];
  let quiet: Call[] = [];
  const settle = () => {
    const [first] = quiet;
    if (!first) return;
    if (quiet.length === 1) {
      rows.push({ type: 'call', key: first.key, seq: first.seq, call: first, output: null, nested: false });
    } else {
      const key = `g${first.key}`;
      rows.push({ type: 'group', key, seq: first.seq, calls: quiet, open: open.has(key) });
      if (open.has(key)) {
        for (const call of quiet) rows.push({ type: 'call', key: call.key, seq: call.seq, call, output: null, nested: true });
      }
    }
    quiet = [];
  };
  for (const item of turn.items) {
    if (isQuiet(item)) {
      quiet.push(item);
      continue;
    }
    settle();
    rows.push(...itemRows(item, turn, outputs, runs));
  }
  settle();
  return rows;
}

function itemRows(item: Item, turn: Turn, outputs: Record<string, string>, runs: readonly RunView[]): Row[] {
  switch (item.kind) {
    case 'said':
      return [{ type: 'said', key: item.key, seq: item.seq, item, turn }];
    case 'text':
    case 'thinking':
    case 'draft':
      return [prose(item)];
    case 'stage':
      return [{ type: 'stage', key: item.key, seq: item.seq, item, run: runs.find((run) => run.number === item.run) }];
    case 'pause':
      return [{ type: 'pause', key: item.key, seq: item.seq, text: item.text }];
    case 'document':
      return [{ type: 'document', key: item.key, seq: item.seq, text: item.text, run: runs.find((run) => run.number === item.run) }];
    case 'note':
      return [{ type: 'note', key: item.key, seq: item.seq, item }];
    case 'call': {
      const row: Row = { type: 'call', key: item.key, seq: item.seq, call: item, output: outputs[item.id] ?? null, nested: false };
      const asked = item.ask;
      if (!asked || asked.answer || asked.withdrawn) return [row];
      // A call that waits for its yes is told by the ask itself.
      const before = item.state === 'planned' ? [] : [row];
      return [...before, { type: 'ask', key: `a${asked.ask.id}`, seq: asked.seq, asked }];
    }
  }
}

function prose(item: Prose): Row {
  const { key, seq, text, millis } = item;
  return item.kind === 'text'
    ? { type: 'text', key, seq, text, streaming: false }
    : { type: 'thinking', key, seq, text, streaming: false, millis, draft: item.kind === 'draft' };
}

const NOUNS: Record<string, [string, string, string]> = {
  read: ['Read', 'file', 'files'],
  list: ['Listed', 'folder', 'folders'],
  find: ['Searched', 'time', 'times'],
  search: ['Searched', 'time', 'times'],
  grep: ['Searched', 'time', 'times'],
  glob: ['Searched', 'time', 'times'],
  fetch: ['Fetched', 'page', 'pages'],
};

/** "Read 3 files · Searched 2 times". */
export function groupWords(calls: readonly Call[]): string {
  const counts = new Map<string, number>();
  for (const call of calls) {
    const stem = Object.keys(NOUNS).find((name) => call.tool.includes(name)) ?? call.tool;
    counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return [...counts]
    .map(([stem, count]) => {
      const noun = NOUNS[stem];
      return noun ? `${noun[0]} ${counted(count, noun[1], noun[2])}` : counted(count, `${stem.replaceAll('_', ' ')} step`);
    })
    .join(' · ');
}
