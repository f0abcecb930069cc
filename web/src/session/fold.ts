/**
 * What is known of a session: one pure fold over its recorded events and what streams in between.
 *
 * Everything that is drawn reads only the result. An event that is already folded in is ignored, so a
 * connection may be cut and joined anywhere; an event after a gap is refused and `gap` says so. The
 * fold may begin in the middle of a log: what it refers to and cannot see is left out until the
 * earlier page is there. It never reads the clock, the network or the page.
 */
import type {
  Access, Ask, AskId, Answer, CallId, ChangedFile, Display, EndReason, Image, InputId, Live, Mode, Origin, Outcome,
  Output, Part, Recorded, Spent, Usage, UserPart,
} from '../api/events';
import { charged, flowed, openRun, stageTitle, type RunView } from './flow';
import { beginning, endSentence, failureSentence, restoredSentence } from './words';

export interface Said {
  kind: 'said';
  key: string;
  seq: number;
  at: number;
  input: InputId;
  /** The event it came with, which may be long before the turn that took it up; 0 where the page has not seen it. */
  heard: number;
  text: string;
  images: Image[];
  files: AttachedFile[];
  steered: boolean;
}
export interface Prose {
  /** A `draft` is what a model says within a stage: working material. */
  kind: 'text' | 'thinking' | 'draft';
  key: string;
  seq: number;
  at: number;
  text: string;
  millis: number | null;
}
export interface Note {
  kind: 'note';
  key: string;
  seq: number;
  at: number;
  tone: 'quiet' | 'bad';
  text: string;
  detail: string | null;
}
export type CallState = 'planned' | 'running' | Outcome;
export interface Call {
  kind: 'call';
  key: string;
  seq: number;
  at: number;
  id: CallId;
  tool: string;
  input: unknown;
  access: Access['access'];
  state: CallState;
  summary: string;
  startedAt: number | null;
  millis: number;
  output: Output | null;
  ask: Asked | null;
}
/** A stage of a flow begins here, or is left out. */
export interface Staged {
  kind: 'stage';
  key: string;
  seq: number;
  at: number;
  run: number;
  stage: string;
  title: string;
}
/** What a person reads before they answer a pause, and the document that a run leaves. */
export interface Paper {
  kind: 'pause' | 'document';
  key: string;
  seq: number;
  at: number;
  run: number;
  text: string;
}
export type Item = Said | Prose | Note | Call | Staged | Paper;

/** An ask and how it ended, if it did. */
export interface Asked {
  ask: Ask;
  seq: number;
  at: number;
  answer: { answer: Answer; by: string; at: number } | null;
  withdrawn: 'expired' | 'superseded' | 'stopped' | null;
}

export interface Turn {
  number: number;
  seq: number;
  startedAt: number;
  endedAt: number | null;
  end: EndReason | null;
  /** A copy up to here has this turn and nothing of the next. */
  lastSeq: number;
  items: Item[];
  cost: number;
  tokens: number;
  files: ChangedFile[];
  moreFiles: number;
  undone: boolean;
}

export interface Queued {
  input: InputId;
  heard: number;
  text: string;
  images: Image[];
  files: AttachedFile[];
  delivery: 'steer' | 'follow_up';
}

/** What streams in the round under way. */
export interface Streaming {
  text: string;
  thinking: string;
  /** When it began to think, shifted by what it did in between; `null` where that was not seen. */
  thinkingSince: number | null;
  /** When it went on to something else. */
  thinkingUntil: number | null;
  begun: { call: CallId; name: string }[];
  outputs: Record<CallId, string>;
}

export interface SessionView {
  /** The first event that was folded in, and the last. `seq` is `from - 1` when there is none. */
  from: number;
  seq: number;
  gap: boolean;
  title: string | null;
  workspace: string;
  agent: string;
  model: string;
  mode: Mode;
  origin: Origin | null;
  turns: Turn[];
  runs: readonly RunView[];
  queue: Queued[];
  /** Open ones only, oldest first. */
  asks: Asked[];
  round: number;
  /** Where a turn is under way, what it does. */
  phase: 'idle' | 'calling' | 'tools' | 'retrying' | 'compacting' | 'ready';
  retryAt: number | null;
  stopping: boolean;
  cost: number;
  tokens: number;
  lastUsage: Usage | null;
  todo: Extract<Display, { type: 'todo' }>['items'];
  /** The last event that was about files. */
  filesSeq: number;
  live: Streaming;
  notice: string | null;
  broken: string | null;
}

/** What is known before the first event that the page has. */
export interface Start {
  from: number;
  title?: string | null;
  workspace?: string;
  agent?: string;
  model?: string;
  mode?: Mode;
  origin?: Origin | null;
  /** As of event `countedTo`, in billionths of a dollar and tokens. */
  cost?: number;
  tokens?: number;
  countedTo?: number;
  /** Whether a turn was under way. */
  running?: boolean;
  asks?: Ask[];
  queue?: { input: InputId; content: UserPart[]; delivery: 'steer' | 'follow_up'; typed?: string | null }[];
}

const NOTHING: Streaming = { text: '', thinking: '', thinkingSince: null, thinkingUntil: null, begun: [], outputs: {} };
/** So much of a running tool's output is kept for the screen; the whole is on disk. */
const OUTPUT_KEPT = 64 * 1024;

export function begin(start: Start): SessionView & { countedTo: number } {
  return {
    from: start.from,
    seq: start.from - 1,
    gap: false,
    title: start.title ?? null,
    workspace: start.workspace ?? '',
    agent: start.agent ?? '',
    model: start.model ?? '',
    mode: start.mode ?? 'ask',
    origin: start.origin ?? null,
    turns: [],
    runs: [],
    queue: (start.queue ?? []).map((queued) => ({
      input: queued.input,
      heard: 0,
      delivery: queued.delivery,
      text: queued.typed ?? textOf(queued.content),
      images: imagesOf(queued.content),
      files: filesOf(queued.content),
    })),
    asks: (start.asks ?? []).map((ask) => ({ ask, seq: 0, at: 0, answer: null, withdrawn: null })),
    round: 0,
    phase: start.running ? 'ready' : 'idle',
    retryAt: null,
    stopping: false,
    cost: start.cost ?? 0,
    tokens: start.tokens ?? 0,
    lastUsage: null,
    todo: [],
    filesSeq: 0,
    live: NOTHING,
    notice: null,
    broken: null,
    countedTo: start.countedTo ?? 0,
  };
}

export type View = ReturnType<typeof begin>;
/** What streams has no time of its own: `at` is when it came, by the server's clock. */
export type Input = { event: Recorded } | { live: Live; at?: number };

/** The view after these, in order. The one given is left as it was; what did not change is shared. */
export function advance(view: View, batch: readonly Input[]): View {
  const draft = new Draft(view);
  for (const input of batch) {
    if ('event' in input) draft.event(input.event);
    else draft.live(input.live, input.at ?? null);
  }
  return draft.done();
}

export function isRunning(view: SessionView): boolean {
  const last = view.turns.at(-1);
  return view.phase !== 'idle' || (last !== undefined && last.number > 0 && last.endedAt === null);
}

/** The title, or until it has one the first words that were said. */
export function nameOfView(view: SessionView): string {
  if (view.title) return view.title;
  for (const turn of view.turns) {
    for (const item of turn.items) if (item.kind === 'said' && view.from === 1) return beginning(item.text.split('\n')[0] ?? '', 120) || 'New session';
  }
  return 'New session';
}

/** A text file that went with a message: a part of its own, between two lines that name it. */
export interface AttachedFile {
  name: string;
  text: string;
  /** The part as it was said. */
  part: string;
}
const FILE = /^\n<file name="([^"\n]*)">\n([^]*)\n<\/file>$/;
const fileIn = (part: UserPart): AttachedFile | null => {
  const found = part.type === 'text' ? FILE.exec(part.text) : null;
  return found && part.type === 'text' ? { name: found[1] ?? '', text: found[2] ?? '', part: part.text } : null;
};
const filesOf = (content: readonly UserPart[]) => content.flatMap((part) => fileIn(part) ?? []);

/** What was said in words. */
export function textOf(content: readonly UserPart[]): string {
  return content.flatMap((part) => (part.type === 'text' && !fileIn(part) ? [part.text] : [])).join('\n\n');
}
function imagesOf(content: readonly UserPart[]): Image[] {
  return content.flatMap((part) => (part.type === 'image' ? [part] : []));
}

/** Copies a thing once per batch, so that many events cost one copy. */
class Draft {
  private readonly view: View;
  private owned = new Set<object>();
  private changed = false;

  constructor(private readonly before: View) {
    this.view = { ...before };
  }

  done(): View {
    return this.changed ? this.view : this.before;
  }

  private turns(): Turn[] {
    if (!this.owned.has(this.view.turns)) {
      this.view.turns = [...this.view.turns];
      this.owned.add(this.view.turns);
    }
    return this.view.turns;
  }

  /** The turn at `index`, free to be changed. */
  private own(index: number): Turn | undefined {
    const turns = this.turns();
    const turn = turns[index];
    if (!turn || this.owned.has(turn)) return turn;
    const copy = { ...turn, items: [...turn.items] };
    this.owned.add(copy);
    turns[index] = copy;
    return copy;
  }

  private begun(number: number, event: { seq: number; at: number }): Turn {
    const turn: Turn = {
      number, seq: event.seq, startedAt: event.at, endedAt: null, end: null, lastSeq: event.seq, items: [], cost: 0,
      tokens: 0, files: [], moreFiles: 0, undone: false,
    };
    this.owned.add(turn);
    this.turns().push(turn);
    return turn;
  }

  /** The last turn; where the log was joined in the middle of one, a nameless turn stands for it. */
  private current(event: { seq: number; at: number }): Turn {
    return this.own(this.view.turns.length - 1) ?? this.begun(0, event);
  }

  private add(item: Item) {
    const turn = this.current(item);
    turn.items.push(item);
  }

  private note(event: Recorded, text: string, tone: Note['tone'] = 'quiet', detail: string | null = null) {
    this.add({ kind: 'note', key: `n${event.seq}`, seq: event.seq, at: event.at, tone, text, detail });
  }

  /** Changes the newest call of this name. Ids are unique only within a round, so the search goes back. */
  private call(id: CallId, change: (call: Call) => Partial<Call>): boolean {
    for (let index = this.view.turns.length - 1; index >= 0; index -= 1) {
      const items = this.view.turns[index]?.items ?? [];
      for (let place = items.length - 1; place >= 0; place -= 1) {
        const item = items[place];
        if (item?.kind !== 'call' || item.id !== id) continue;
        const turn = this.own(index);
        if (turn) turn.items[place] = { ...item, ...change(item) };
        return true;
      }
    }
    return false;
  }

  private spend(event: Recorded, spent: Spent | undefined) {
    if (!spent) return;
    const tokens = spent.usage.input + spent.usage.output;
    if (event.seq > this.view.countedTo) {
      this.view.cost += spent.cost;
      this.view.tokens += tokens;
    }
    this.view.runs = charged(this.view.runs, spent.cost);
    const turn = this.view.turns.length > 0 ? this.current(event) : undefined;
    if (turn && turn.endedAt === null) {
      turn.cost += spent.cost;
      turn.tokens += tokens;
    }
  }

  /** An input leaves the queue and is said. */
  private take(inputs: readonly InputId[], event: Recorded, steered: boolean) {
    for (const input of inputs) {
      const queued = this.view.queue.find((waiting) => waiting.input === input);
      if (!queued) continue;
      this.view.queue = this.view.queue.filter((waiting) => waiting.input !== input);
      this.add({
        kind: 'said', key: `i${input}`, seq: event.seq, at: event.at, input, heard: queued.heard, text: queued.text, images: queued.images, files: queued.files, steered,
      });
    }
  }

  private closeAsk(id: AskId, event: Recorded, how: Pick<Asked, 'answer' | 'withdrawn'>) {
    const asked = this.view.asks.find((open) => open.ask.id === id);
    this.view.asks = this.view.asks.filter((open) => open.ask.id !== id);
    if (!asked) return;
    const closed: Asked = { ...asked, ...how };
    if (!this.call(asked.ask.call, () => ({ ask: closed }))) this.note(event, asked.ask.question);
  }

  event(event: Recorded) {
    if (event.seq <= this.view.seq) return;
    if (event.seq > this.view.seq + 1) {
      if (!this.view.gap) {
        this.view.gap = true;
        this.changed = true;
      }
      return;
    }
    this.changed = true;
    this.view.seq = event.seq;
    this.view.gap = false;
    this.view.runs = flowed(this.view.runs, event);
    this.fold(event);
    const turn = this.view.turns.length > 0 ? this.own(this.view.turns.length - 1) : undefined;
    // What is said after a turn has ended is of the next one.
    if (turn && (turn.endedAt === null || event.type !== 'input_received')) turn.lastSeq = event.seq;
  }

  private fold(event: Recorded) {
    const view = this.view;
    switch (event.type) {
      case 'session_started':
        view.workspace = event.workspace;
        view.agent = event.agent;
        view.model = event.model;
        view.mode = event.mode;
        view.origin = event.origin ?? view.origin;
        return;
      case 'title_set':
        view.title = event.title;
        return this.spend(event, event.spent);
      case 'mode_set':
        view.mode = event.mode;
        return;
      case 'model_set':
        view.model = event.model;
        return;
      case 'limits_set':
      case 'grant_given':
        return;
      case 'input_received': {
        const text = event.shorthand?.typed ?? textOf(event.content);
        const queued: Queued = { input: event.input, heard: event.seq, text, images: imagesOf(event.content), files: filesOf(event.content), delivery: event.delivery };
        view.queue = [...view.queue.filter((waiting) => waiting.input !== event.input), queued];
        return;
      }
      case 'input_withdrawn':
        view.queue = view.queue.filter((waiting) => waiting.input !== event.input);
        return;
      case 'turn_started':
        this.begun(event.turn, event);
        view.phase = 'ready';
        view.stopping = false;
        view.broken = null;
        view.round = 0;
        view.live = NOTHING;
        return this.take(event.inputs, event, false);
      case 'round_started':
        view.phase = 'calling';
        view.round = event.round;
        view.retryAt = null;
        view.notice = null;
        view.live = NOTHING;
        return this.take(event.steered ?? [], event, true);
      case 'round_answered':
        return this.answered(event);
      case 'round_failed':
        view.live = NOTHING;
        view.retryAt = event.retry_at ?? null;
        view.phase = event.retry_at === undefined ? 'ready' : 'retrying';
        if (event.partial) this.prose('text', event, event.partial, `t${this.current(event).seq}f${event.seq}`, null);
        if (event.retry_at !== undefined) this.note(event, `${failureSentence(event.failure)} Trying again.`);
        return this.spend(event, event.spent);
      case 'tool_started':
        view.phase = 'tools';
        this.started(event);
        return;
      case 'tool_finished':
        return this.finished(event);
      case 'ask_raised': {
        const asked: Asked = { ask: event.ask, seq: event.seq, at: event.at, answer: null, withdrawn: null };
        view.asks = [...view.asks.filter((open) => open.ask.id !== event.ask.id), asked];
        this.call(event.ask.call, () => ({ ask: asked }));
        return;
      }
      case 'ask_answered':
        return this.closeAsk(event.ask, event, {
          answer: { answer: event.answer, by: event.by, at: event.at },
          withdrawn: null,
        });
      case 'ask_withdrawn':
        return this.closeAsk(event.ask, event, { answer: null, withdrawn: event.why });
      case 'stop_requested':
        view.stopping = true;
        return;
      case 'turn_ended':
        return this.ended(event);
      case 'compaction_started':
        view.phase = 'compacting';
        return;
      case 'compacted':
        view.phase = 'ready';
        this.note(event, 'Earlier parts of the conversation are now a summary, to fit the model.', 'quiet', event.summary);
        return this.spend(event, event.spent);
      case 'recovered':
        view.live = NOTHING;
        this.note(event, 'Weft was stopped here and went on from the log.');
        return;
      case 'sampled':
        return this.spend(event, event.spent);
      case 'hook_ran':
        this.note(event, `Hook \`${event.hook}\` (${event.point}): ${event.result}`);
        return;
      case 'files_changed': {
        view.filesSeq = event.seq;
        const index = view.turns.findLastIndex((turn) => turn.number === event.turn);
        const turn = this.own(index);
        if (!turn) return;
        turn.files = event.files;
        turn.moreFiles = event.more ?? 0;
        turn.undone = false;
        return;
      }
      case 'files_restored':
        view.filesSeq = event.seq;
        view.turns.forEach((turn, index) => {
          if (!event.turns.includes(turn.number)) return;
          const owned = this.own(index);
          if (owned) owned.undone = event.way === 'undo';
        });
        this.note(event, restoredSentence(event), 'quiet', event.files.map((file) => file.path).join('\n') || null);
        return;
      case 'stage_started':
      case 'stage_skipped':
        this.add({ kind: 'stage', key: `s${event.seq}`, seq: event.seq, at: event.at, run: event.run, stage: event.stage, title: stageTitle(view.runs, event.run, event.stage) });
        return;
      case 'stage_calls':
        view.phase = 'tools';
        event.calls.forEach((call, index) => this.planned(event, { type: 'tool_call', ...call }, event.plan[index]?.access ?? 'run'));
        return;
      case 'flow_paused':
        this.add({ kind: 'pause', key: `u${event.seq}`, seq: event.seq, at: event.at, run: event.run, text: event.text });
        return;
      case 'repair_started':
        this.note(event, `Goes back to “${stageTitle(view.runs, event.run, event.stage)}” to mend what did not hold.`, 'quiet', event.feedback || null);
        return;
      case 'flow_continued':
        this.note(event, 'The run goes on where it was.');
        return;
      case 'flow_resumed':
      case 'breakout_asked':
        // Whoever speaks at a pause instead of choosing has been heard.
        return this.take(event.inputs ?? [], event, true);
      case 'flow_ended':
        this.take(event.inputs ?? [], event, true);
        if (event.reason === 'breakout') this.note(event, 'You left the run. What it found so far stays in the conversation.');
        if (event.document) this.add({ kind: 'document', key: `d${event.seq}`, seq: event.seq, at: event.at, run: event.run, text: event.document });
        return;
      default:
        // Written by a newer Weft; the trace shows it.
        return;
    }
  }

  private prose(kind: Prose['kind'], event: Recorded, text: string, key: string, millis: number | null) {
    if (text.trim() === '') return;
    this.add({ kind, key, seq: event.seq, at: event.at, text, millis });
  }

  private answered(event: Extract<Recorded, { type: 'round_answered' }>) {
    const view = this.view;
    const base = proseKey(this.current(event), view.round);
    view.live = NOTHING;
    view.lastUsage = event.spent.usage;
    let texts = 0;
    let thoughts = 0;
    let calls = 0;
    // One time is known for all that was thought in a round.
    const thought = event.parts.filter((part) => part.type === 'thinking').length === 1 ? (event.thinking_millis ?? null) : null;
    for (const part of event.parts) {
      switch (part.type) {
        case 'text':
          this.prose(openRun(view.runs) ? 'draft' : 'text', event, part.text, `${base}x${texts++}`, event.spent.millis);
          break;
        case 'thinking':
          this.prose('thinking', event, part.text, `${base}h${thoughts++}`, thought);
          break;
        case 'tool_call':
          this.planned(event, part, event.plan?.[calls]?.access ?? 'run');
          calls += 1;
          break;
        default:
          break;
      }
    }
    view.phase = calls > 0 ? 'tools' : 'ready';
    this.spend(event, event.spent);
  }

  private planned(event: Recorded, part: Extract<Part, { type: 'tool_call' }>, access: Access['access']) {
    this.add({
      kind: 'call', key: `c${event.seq}.${part.id}`, seq: event.seq, at: event.at, id: part.id, tool: part.name,
      input: part.input, access, state: 'planned', summary: '', startedAt: null, millis: 0, output: null, ask: null,
    });
  }

  /** A call whose plan is not in sight gets a row of its own, so that nothing that ran is hidden. */
  private fallback(event: Recorded, id: CallId, tool: string): void {
    this.add({
      kind: 'call', key: `c${event.seq}.${id}`, seq: event.seq, at: event.at, id, tool, input: null, access: 'run',
      state: 'planned', summary: '', startedAt: null, millis: 0, output: null, ask: null,
    });
  }

  private started(event: Extract<Recorded, { type: 'tool_started' }>) {
    const change = (): Partial<Call> => ({ state: 'running', summary: event.summary, startedAt: event.at });
    if (this.call(event.call, change)) return;
    this.fallback(event, event.call, event.tool);
    this.call(event.call, change);
  }

  private finished(event: Extract<Recorded, { type: 'tool_finished' }>) {
    const view = this.view;
    const change = (call: Call): Partial<Call> => ({
      state: event.outcome,
      output: event.output,
      millis: event.millis,
      summary: event.outcome === 'interrupted' || !event.output.summary ? call.summary : event.output.summary,
    });
    if (!this.call(event.call, change)) {
      this.fallback(event, event.call, event.tool);
      this.call(event.call, change);
    }
    if (event.output.display?.type === 'todo') view.todo = event.output.display.items;
    if (event.call in view.live.outputs) {
      const { [event.call]: _, ...outputs } = view.live.outputs;
      view.live = { ...view.live, outputs };
    }
  }

  private ended(event: Extract<Recorded, { type: 'turn_ended' }>) {
    const view = this.view;
    const turn = this.current(event);
    if (turn.number === 0) turn.number = event.turn;
    turn.endedAt = event.at;
    turn.end = event.reason;
    view.phase = 'idle';
    view.retryAt = null;
    view.stopping = false;
    view.notice = null;
    view.live = NOTHING;
    const sentence = endSentence(event.reason);
    if (sentence) this.note(event, sentence, event.reason.reason === 'interrupted' ? 'quiet' : 'bad');
  }

  live(live: Live, at: number | null) {
    const view = this.view;
    this.changed = true;
    switch (live.type) {
      case 'partial':
        // Whoever joins now has not seen when it began.
        view.live = { ...view.live, text: live.text, thinking: live.thinking ?? '', thinkingSince: null, thinkingUntil: null };
        return;
      case 'text':
        view.live = { ...thoughtUntil(view.live, at), text: view.live.text + live.text };
        return;
      case 'thinking':
        view.live = { ...thinkingAt(view.live, at), thinking: view.live.thinking + live.text };
        return;
      case 'tool_begun':
        if (view.live.begun.some((begun) => begun.call === live.call)) return;
        view.live = { ...thoughtUntil(view.live, at), begun: [...view.live.begun, { call: live.call, name: live.name }] };
        return;
      case 'tool_output': {
        const text = (live.replace ? '' : (view.live.outputs[live.call] ?? '')) + live.text;
        view.live = { ...view.live, outputs: { ...view.live.outputs, [live.call]: text.slice(-OUTPUT_KEPT) } };
        return;
      }
      case 'notice':
        view.notice = live.text;
        return;
      case 'broken':
        view.broken = live.text;
        return;
    }
  }
}

function thinkingAt(live: Streaming, at: number | null): Streaming {
  if (live.thinking === '') return { ...live, thinkingSince: at, thinkingUntil: null };
  const { thinkingSince: since, thinkingUntil: until } = live;
  // It thinks once more: what it did in between is no thinking.
  return until === null ? live : { ...live, thinkingSince: since === null || at === null ? null : at - (until - since), thinkingUntil: null };
}
const thoughtUntil = (live: Streaming, at: number | null): Streaming =>
  live.thinking === '' || live.thinkingUntil !== null ? live : { ...live, thinkingUntil: at };

/** The name of what is said in a round: the same while it streams and when it is recorded. */
export function proseKey(turn: Turn, round: number): string {
  return `t${turn.seq}r${round}`;
}
