/**
 * The facts of a session as the server sends them. Made from `weft-core` and the server's `stream.rs` by
 * `WEFT_WRITE=1 cargo nextest run -p weft-tidy the_page`; a test fails when it is not up to date.
 *
 * Only shapes live here. A kind that this page does not know arrives as any other object and is kept and
 * shown in the trace, never dropped.
 */

/** An event in its place: number `seq` of its session, written at `at`. */
export type Recorded = {
  session: SessionId;
  seq: number;
  at: Timestamp;
} & Event;

export type Event =
  | ({ type: 'session_started' } & SessionStarted)
  | ({ type: 'title_set' } & TitleSet)
  | ({ type: 'mode_set' } & ModeSet)
  | ({ type: 'model_set' } & ModelSet)
  /** Somebody said something. It waits in the queue until a turn or round takes it. */
  | ({ type: 'input_received' } & InputReceived)
  | ({ type: 'input_withdrawn' } & InputWithdrawn)
  | ({ type: 'turn_started' } & TurnStarted)
  /** A model call is about to be made. */
  | ({ type: 'round_started' } & RoundStarted)
  | ({ type: 'round_answered' } & RoundAnswered)
  | ({ type: 'round_failed' } & RoundFailed)
  /** A tool is about to run. */
  | ({ type: 'tool_started' } & ToolStarted)
  | ({ type: 'tool_finished' } & ToolFinished)
  | ({ type: 'ask_raised' } & AskRaised)
  | ({ type: 'ask_answered' } & AskAnswered)
  /** An ask closed without an answer. */
  | ({ type: 'ask_withdrawn' } & AskWithdrawn)
  | ({ type: 'grant_given' } & GrantGiven)
  | ({ type: 'stop_requested' } & StopRequested)
  | ({ type: 'turn_ended' } & TurnEnded)
  | ({ type: 'compaction_started' } & CompactionStarted)
  | ({ type: 'compacted' } & Compacted)
  /** The session was found unfinished and is carried on. */
  | ({ type: 'recovered' } & Recovered)
  | ({ type: 'hook_ran' } & HookRan)
  | ({ type: 'limits_set' } & LimitsSet)
  | ({ type: 'files_changed' } & FilesChanged)
  | ({ type: 'files_restored' } & FilesRestored)
  /** A model answered a source that asked it during a call. */
  | ({ type: 'sampled' } & Sampled)
  | ({ type: 'flow_started' } & FlowStarted)
  | ({ type: 'flow_continued' } & FlowContinued)
  | ({ type: 'stage_started' } & StageStarted)
  | ({ type: 'stage_calls' } & StageCalls)
  | ({ type: 'stage_finished' } & StageFinished)
  | ({ type: 'stage_skipped' } & StageSkipped)
  | ({ type: 'stage_failed' } & StageFailed)
  | ({ type: 'flow_paused' } & FlowPaused)
  | ({ type: 'flow_resumed' } & FlowResumed)
  | ({ type: 'breakout_asked' } & BreakoutAsked)
  | ({ type: 'repair_started' } & RepairStarted)
  | ({ type: 'flow_ended' } & FlowEnded)
  /** Written by a newer Weft. */
  | ({ type: 'unknown' } & Unknown);

export interface Unknown {
  kind: number;
  data: unknown;
}

export type FlowEnded = {
  run: number;
  /** The document, in Markdown. Part of the conversation from now on. */
  document?: string;
  /** What later prompts are told of the run, whatever is forgotten of the rest. */
  summary: string;
  /** Replies that nobody has answered yet and that do not belong to the conversation. */
  inputs?: InputId[];
  /** What the person said when they left; the conversation goes on with it. */
  said?: string;
} & FlowEnd;

/** Something a person said, from the moment it arrived. */
export type InputId = string;

export type FlowEnd =
  | { reason: 'completed' }
  /** The person left. */
  | { reason: 'breakout' }
  /** Runs ended so when their budget was used up; now they wait for a larger one. */
  | {
      reason: 'budget_exceeded';
      limit: Cost;
    };

/** Money, in billionths of a US dollar, so that single tokens can be counted exactly. */
export type Cost = number;

export interface RepairStarted {
  run: number;
  /** The stage it goes back to. */
  stage: string;
  iteration: number;
  feedback: string;
}

/** A reply to a pause looks like the wish to leave; the person is asked. */
export interface BreakoutAsked {
  run: number;
  /** What they said. It is answered in the conversation if they leave. */
  said: string;
  inputs?: InputId[];
}

export interface FlowResumed {
  run: number;
  stage: string;
  /** What the person said. */
  reply: string;
  inputs?: InputId[];
  /** Stages that are left out from now on. */
  skip?: string[];
  /** The stage that the run goes back to, so that what was said counts there. */
  back?: string;
}

/** A stage is done and a person is asked before the next one. */
export interface FlowPaused {
  run: number;
  stage: string;
  /** Markdown. */
  text: string;
  /** How the text was made: from the stage's output as it should be, or by falling back. */
  path: string;
}

/** A stage could not go on. What it had done stays done; carried on, it tries again what failed. */
export interface StageFailed {
  run: number;
  stage: string;
  message: string;
  /** The last step is what failed, and is done again when the run is carried on. */
  redo: boolean;
  /** What later prompts are told of the run so far. */
  summary?: string;
}

export interface StageSkipped {
  run: number;
  stage: string;
  why: string;
  output: unknown;
}

export interface StageFinished {
  run: number;
  stage: string;
  output: unknown;
  /** In plain words: "Found 24 paragraphs". */
  summary: string;
  /** What must be mended, if something must. */
  repair?: string;
}

/** Calls that the flow makes, not a model. They are judged by the guard like any other. */
export interface StageCalls {
  run: number;
  stage: string;
  calls: ToolCall[];
  plan: Plan[];
  /** Of a step that was stopped half-way: the events with what had come of it. Only the rest is called. */
  kept?: number[];
}

export type Plan = {
  /** Running it again does no harm, so it may be run again after a crash. */
  idempotent?: boolean;
} & Access;

/** What a tool call touches, so that calls that could disturb each other run one after the other. */
export type Access =
  | { access: 'read' }
  | {
      access: 'write';
      path: string;
    }
  | { access: 'run' };

export interface ToolCall {
  id: CallId;
  name: string;
  /** The arguments. An object, or, when the model sent something that is not JSON, that text as a string: it is given back to the model as an error, never guessed at. */
  input: unknown;
  /** A token some providers attach to a call and want back with it (Gemini's thought signature). */
  signature?: string;
}

/** The name a model gave to one of its tool calls; unique within a round. */
export type CallId = string;

export interface StageStarted {
  run: number;
  stage: string;
  /** 0 at first, then the number of the repair. */
  iteration: number;
}

/** A run that had stopped is carried on. */
export interface FlowContinued {
  run: number;
  /** What it may cost from now on, in all. */
  budget?: Cost;
}

/** A run begins. Everything it needs later is in here, so that it goes on as it began even if the flow's files have changed since. */
export interface FlowStarted {
  /** Counts from 1 within the session. */
  run: number;
  flow: string;
  title: string;
  question: string;
  stages: StageName[];
  repairs?: RepairUnit[];
  /** The run ends before a call that could cost more. */
  budget?: Cost;
  /** Somebody chose the budget; it is not the flow's own. */
  budget_chosen?: boolean;
  /** What was chosen for this run, such as its depth. */
  settings: unknown;
  /** The flow with its prompts, as its files said. */
  definition: unknown;
  /** The answer that this run follows up. */
  prior?: Prior;
}

export interface Prior {
  session: SessionId;
  run: number;
  question: string;
  /** What its last stage gave. */
  output: unknown;
}

/** One line of work. */
export type SessionId = string;

/** Stages that are gone through again, with feedback, while their last one says so. */
export interface RepairUnit {
  first: string;
  last: string;
  /** How often at most. */
  most: number;
}

export interface StageName {
  id: string;
  title: string;
}

export interface Sampled {
  /** The call during which it asked. */
  call: CallId;
  source: string;
  spent: Spent;
}

/** One paid call: who was asked, and what it used. */
export interface Spent {
  model: ModelName;
  usage: Usage;
  cost: Cost;
  millis: number;
}

/** What one model call used. `input` counts everything sent, cached or not. */
export interface Usage {
  input: number;
  output: number;
  /** The part of `input` that the provider read from its cache. */
  cache_read?: number;
  /** The part of `input` that the provider wrote to its cache. */
  cache_write?: number;
  /** The part of `output` that was reasoning. */
  reasoning?: number;
}

export type ModelName = string;

/** Files were put back as they were, or forward again. */
export interface FilesRestored {
  /** So that it is recorded once, whatever happens. */
  id: string;
  way: Way;
  /** The turns, in the order in which they were gone through. None where a single file was taken back. */
  turns: number[];
  /** The names of the files that were changed, as they were and as they are. */
  from: string;
  to: string;
  files: ChangedFile[];
  more?: number;
  /** What was left as it is, because somebody has changed it since. */
  kept?: KeptFile[];
}

export interface KeptFile {
  path: string;
  reason: string;
}

export interface ChangedFile {
  path: string;
  change: FileChange;
  /** Lines, where it is text. */
  added?: number;
  removed?: number;
}

export type FileChange =
  | 'created'
  | 'changed'
  | 'deleted'
  /** Only its permissions. */
  | 'mode'
  /** It changed, and cannot be taken back. */
  | 'not_kept';

export type Way =
  | 'undo'
  | 'redo';

/** A turn changed files. */
export interface FilesChanged {
  turn: number;
  /** The names of all files together, before the turn and after it. */
  before: string;
  after: string;
  files: ChangedFile[];
  /** How many more there are. */
  more?: number;
}

/** Other limits, from the turn that is under way on. */
export interface LimitsSet {
  limits: Limits;
}

export interface Limits {
  rounds: number | null;
  tool_calls: number | null;
  wall_clock_ms: number | null;
  tokens: number | null;
  cost: Cost | null;
  /** This many rounds in a row in which every tool failed end the turn. */
  failed_rounds: number | null;
  /** This many rounds in a row with the same calls and the same results end the turn. */
  repeats: number | null;
}

/** A user's hook did something worth knowing: it blocked, added something, or failed. */
export interface HookRan {
  hook: string;
  point: string;
  result: string;
}

export interface Recovered {
  /** Tool calls that were under way and are now marked as interrupted. */
  interrupted: CallId[];
}

export interface Compacted {
  /** Messages put in place by events up to this one are now represented by `summary`. */
  upto: number;
  summary: string;
  method: Method;
  tokens_before: number;
  spent?: Spent;
}

export type Method =
  /** A model wrote the summary. */
  | 'model'
  /** Put together from the conversation's own sentences, without a model. */
  | 'extractive';

export interface CompactionStarted {
  cause: CompactionCause;
}

export type CompactionCause =
  /** The conversation neared the model's window. */
  | 'threshold'
  /** The model refused it as too long. */
  | 'overflow';

export interface TurnEnded {
  turn: number;
  reason: EndReason;
}

/** Why a turn is over. Ending is a fact in the log, not a flag. */
export type EndReason =
  | { reason: 'completed' }
  /** Cut off by the model's output limit. */
  | { reason: 'truncated' }
  /** The model declined to answer. */
  | { reason: 'refused' }
  | { reason: 'interrupted' }
  | {
      reason: 'round_limit';
      limit: number;
    }
  | {
      reason: 'tool_call_limit';
      limit: number;
    }
  | {
      reason: 'time_limit';
      limit_ms: number;
    }
  | {
      reason: 'token_limit';
      limit: number;
    }
  | {
      reason: 'cost_limit';
      limit: Cost;
    }
  | {
      reason: 'all_tools_failed';
      rounds: number;
    }
  /** The same calls with the same results, again and again. */
  | {
      reason: 'stuck';
      rounds: number;
    }
  | {
      reason: 'model_failed';
      failure: Failure;
    }
  /** A stage of a flow could not go on. */
  | {
      reason: 'stage_failed';
      stage: string;
      message: string;
    }
  /** The next call of a flow could have cost more than its budget. */
  | {
      reason: 'flow_budget';
      limit: Cost;
    };

/** A failed model call. One type from the provider's client to the screen. */
export interface Failure {
  kind: FailureKind;
  /** What happened, in a sentence for people. Never contains a key. */
  message: string;
  status?: number;
  /** How long the provider asked us to wait. */
  retry_after_ms?: number;
}

export type FailureKind =
  /** 429: too many requests or tokens for now. */
  | 'rate_limited'
  /** 529 or its like: the provider is busy. */
  | 'overloaded'
  /** 5xx. */
  | 'server'
  /** The connection could not be made or was lost before an answer began. */
  | 'network'
  /** The stream ended or broke before the answer was complete. */
  | 'stream_broken'
  /** The stream went silent for too long. */
  | 'idle'
  /** The key is missing or wrong. */
  | 'auth'
  /** The key may not do this. */
  | 'forbidden'
  /** Out of credit. */
  | 'quota'
  /** No such model, or no such address. */
  | 'not_found'
  /** The provider understood the request and will not take it. */
  | 'bad_request'
  /** The conversation does not fit the model's window. */
  | 'context_overflow'
  /** The provider sent something that is not its protocol. */
  | 'protocol'
  /** A person's turn needed the slot. Tried again at once, at no charge to the retry count. */
  | 'preempted'
  /** A budget would be exceeded; nothing was sent. */
  | 'budget'
  /** The breaker is open after repeated failures; nothing was sent. */
  | 'circuit_open'
  /** Weft stopped while the call was under way. */
  | 'crashed'
  /** Stopped on request. */
  | 'cancelled'
  /** A cassette has no recording of this request. */
  | 'not_recorded'
  /** Set up wrongly on this machine: no such provider, a bad address. */
  | 'config'
  | 'unknown';

export interface StopRequested {
  by: StopCause;
}

export type StopCause =
  | 'person'
  | 'wall_clock';

export interface GrantGiven {
  grant: Grant;
  /** In this workspace for good, not only in this session. */
  always?: boolean;
}

/** A permission given for the rest of a session, or for good. */
export type Grant =
  /** Every use of a tool that changes files. */
  | {
      type: 'tool';
      tool: string;
    }
  /** Exactly this command line. */
  | {
      type: 'command';
      command: string;
    }
  /** Whatever these rules allow, such as `run cargo test`. */
  | {
      type: 'rules';
      rules: string[];
    };

export interface AskWithdrawn {
  ask: AskId;
  why: Withdrawn;
}

export type Withdrawn =
  | 'expired'
  /** The person said something else instead. */
  | 'superseded'
  | 'stopped';

/** A question to a person. */
export type AskId = string;

export interface AskAnswered {
  ask: AskId;
  answer: Answer;
  /** The client it came from: "terminal", "cli", "web". */
  by: string;
}

export type Answer =
  | {
      type: 'approve';
      scope: Choice;
    }
  /** No; `message` says what to do instead and goes to the model. */
  | {
      type: 'reject';
      message?: string;
    }
  /** The answer to a question: chosen options or free text. */
  | {
      type: 'text';
      text: string;
    }
  /** A form as it was filled in, by the names of its fields. */
  | {
      type: 'form';
      values: Record<string, unknown>;
    };

export type Choice =
  | 'once'
  | 'session'
  /** In this workspace, in every session from now on. */
  | 'always';

export interface AskRaised {
  ask: Ask;
}

export interface Ask {
  id: AskId;
  /** The tool call that waits for the answer. */
  call: CallId;
  kind: AskKind;
  /** One sentence in plain words. */
  question: string;
  /** After this moment the ask closes by itself, as a rejection. */
  deadline?: Timestamp;
}

/** A moment, in milliseconds since 1970 UTC. */
export type Timestamp = number;

export type AskKind =
  /** May this be done? */
  | {
      type: 'approval';
      tool: string;
      /** What exactly: the full command, or a diff. */
      detail: string;
      /** What "for this session" would allow from then on, shown with that choice. */
      grant?: Grant;
      /** What a yes leads to, in plain words: what is touched, what holds it, whether it can be taken back. */
      effect?: string;
    }
  /** A question by the model, with choices or without. */
  | {
      type: 'question';
      options: string[];
      /** More than one option may be chosen. */
      several?: boolean;
    }
  /** Several things to fill in at once. */
  | {
      type: 'form';
      fields: Field[];
    };

/** One thing to fill in. */
export interface Field {
  name: string;
  /** What it is called on screen. */
  title: string;
  description?: string;
  required?: boolean;
  kind: FieldKind;
  default?: unknown;
}

export type FieldKind =
  | {
      type: 'text';
      min_length?: number;
      max_length?: number;
      format?: TextFormat;
    }
  | {
      type: 'number';
      integer?: boolean;
      min?: number;
      max?: number;
    }
  /** Yes or no. */
  | { type: 'flag' }
  | {
      type: 'choice';
      options: FieldOption[];
      several?: boolean;
    };

export interface FieldOption {
  value: unknown;
  title: string;
}

export type TextFormat =
  | 'email'
  | 'uri'
  | 'date'
  | 'date_time';

export interface ToolFinished {
  call: CallId;
  tool: string;
  outcome: Outcome;
  output: Output;
  millis: number;
}

/** What came of a tool call. */
export interface Output {
  /** What the model sees. Capped by the guard. */
  text: string;
  /** In plain words, for people: "Edited `src/gate.rs` +12 −3". */
  summary: string;
  images?: Image[];
  display?: Display;
  /** Where the whole output lies, when `text` is only a part of it. */
  saved?: Saved;
  /** Fields of the call's input that are now on disk and need not be sent to the model again. */
  settled?: string[];
  /** Tools that the model has from now on. */
  loads?: string[];
  /** The result for programs. A flow's stages read this; a model never sees it. */
  data?: unknown;
}

export interface Saved {
  path: string;
  bytes: number;
}

/** What a screen can show of a result beyond its summary. */
export type Display =
  /** A unified diff. */
  | {
      type: 'diff';
      path: string;
      diff: string;
      added: number;
      removed: number;
    }
  | {
      type: 'command';
      command: string;
      exit_code: number | null;
    }
  | {
      type: 'todo';
      items: TodoItem[];
    };

export interface TodoItem {
  text: string;
  state: TodoState;
}

export type TodoState =
  | 'open'
  | 'active'
  | 'done';

/** A picture, base64-encoded as every provider wants it. */
export interface Image {
  media_type: string;
  data: string;
}

export type Outcome =
  | 'ok'
  /** It ran and could not do what was asked. */
  | 'failed'
  /** Unknown tool, or arguments that are not JSON or do not fit the schema. It did not run. */
  | 'invalid'
  /** Permission was refused. It did not run. */
  | 'denied'
  /** Stopped half-way, by a person, a limit or a crash. What it did is not known. */
  | 'interrupted';

export interface ToolStarted {
  call: CallId;
  tool: string;
  /** In plain words: "Run `cargo test`". */
  summary: string;
}

export interface RoundFailed {
  failure: Failure;
  /** What had been streamed when it failed. */
  partial?: string;
  /** When it will be tried again, if it will. */
  retry_at?: Timestamp;
  spent?: Spent;
}

export interface RoundAnswered {
  parts: Part[];
  stop: StopReason;
  spent: Spent;
  /** How long it thought, as far as it was heard: from the first words of a thought until it said or did something else. The rest of `spent.millis` is waiting and answering. */
  thinking_millis?: number;
  /** For each tool call in `parts`, in order, what the registry knows of it. */
  plan?: Plan[];
}

/** Why a model stopped. */
export type StopReason =
  | 'end'
  | 'tool_calls'
  /** The output limit was reached. */
  | 'length'
  /** The provider wants to be called again with what it has said. */
  | 'pause'
  | 'refusal'
  /** It has nothing more to try, and what it said is that the request was not met. */
  | 'unable';

/** A piece of a model's answer, in the order in which the model gave it. */
export type Part =
  | {
      type: 'text';
      text: string;
    }
  /** Reasoning that may be shown. `signature` is the provider's proof that it is unchanged. */
  | {
      type: 'thinking';
      text: string;
      signature?: string;
    }
  | ({ type: 'tool_call' } & ToolCall)
  /** Something only its provider understands and wants back verbatim, such as encrypted reasoning. Sent back to that protocol only. */
  | {
      type: 'opaque';
      protocol: string;
      data: unknown;
    };

export interface RoundStarted {
  /** Counts from 1 within the turn. */
  round: number;
  /** Counts from 1 within the round. */
  attempt: number;
  model: ModelName;
  steered?: InputId[];
}

export interface TurnStarted {
  /** Counts from 1 within the session. */
  turn: number;
  /** What it answers. Empty when a turn that ended early is carried on. */
  inputs: InputId[];
}

export interface InputWithdrawn {
  input: InputId;
}

export interface InputReceived {
  input: InputId;
  content: UserPart[];
  delivery: Delivery;
  /** What the person wrote, where it stands for more, such as `/review src`. */
  shorthand?: Shorthand;
}

/** A few words that stand for the content of an input. */
export interface Shorthand {
  typed: string;
  /** Tools that the model has from then on; `mcp__docs__*` stands for all of a source. */
  loads?: string[];
}

/** When something said during a turn reaches the model. */
export type Delivery =
  /** With the next round of the turn that runs. */
  | 'steer'
  /** As a turn of its own, after this one. */
  | 'follow_up';

export type UserPart =
  | {
      type: 'text';
      text: string;
    }
  | ({ type: 'image' } & Image);

export interface ModelSet {
  model: ModelName;
}

export interface ModeSet {
  mode: Mode;
}

/** What an agent may do without asking. */
export type Mode =
  /** Look, but change nothing. */
  | 'safe'
  /** Ask before every change and every command. */
  | 'ask'
  /** Go ahead. */
  | 'auto';

export interface TitleSet {
  title: string;
  /** What it cost to find, if a model was asked. */
  spent?: Spent;
}

export interface SessionStarted {
  /** The folder it works in, absolute. */
  workspace: string;
  agent: string;
  model: ModelName;
  mode: Mode;
  limits: Limits;
  origin?: Origin;
  labels?: Record<string, string>;
}

/** Where a session that is not a root came from. */
export type Origin =
  /** Run on behalf of another session. */
  | {
      from: 'child';
      parent: SessionId;
    }
  /** A copy of another session up to and including event `seq`. */
  | {
      from: 'fork';
      parent: SessionId;
      seq: number;
    };

/** Something that is on its way, as clients see it. */
export type Live =
  /** All that has been streamed of this round. */
  | {
      type: 'partial';
      text: string;
      thinking: string;
    }
  | {
      type: 'text';
      text: string;
    }
  | {
      type: 'thinking';
      text: string;
    }
  | {
      type: 'tool_begun';
      call: CallId;
      name: string;
    }
  | {
      type: 'tool_output';
      call: CallId;
      text: string;
      /** It stands for everything that was printed before. */
      replace?: boolean;
    }
  | {
      type: 'notice';
      text: string;
    }
  | {
      type: 'broken';
      text: string;
    };
