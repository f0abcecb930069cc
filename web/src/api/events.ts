/**
 * The facts of a session as the server sends them: the JSON of `weft-core`'s `event.rs`.
 *
 * Only shapes live here. A kind this page does not know arrives as any other object and is kept and
 * shown in the trace, never dropped.
 */

export type SessionId = string;
export type AskId = string;
export type InputId = string;
export type CallId = string;
export type Mode = 'safe' | 'ask' | 'auto';

export interface Image {
  media_type: string;
  /** Base64. */
  data: string;
}

export type UserPart = { type: 'text'; text: string } | ({ type: 'image' } & Image);

export type Part =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string; signature?: string }
  | { type: 'tool_call'; id: CallId; name: string; input: unknown; signature?: string }
  | { type: 'opaque'; protocol: string; data: unknown };

export interface Usage {
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
  reasoning?: number;
}

/** One paid call. `cost` counts billionths of a US dollar. */
export interface Spent {
  model: string;
  usage: Usage;
  cost: number;
  millis: number;
}

export interface Failure {
  kind: string;
  message: string;
  status?: number;
  retry_after_ms?: number;
}

export type Access = 'read' | 'write' | 'run';
export interface Plan {
  access: Access;
  path?: string;
  idempotent?: boolean;
}

export type Outcome = 'ok' | 'failed' | 'invalid' | 'denied' | 'interrupted';

export interface TodoItem {
  text: string;
  state: 'open' | 'active' | 'done';
}

export type Display =
  | { type: 'diff'; path: string; diff: string; added: number; removed: number }
  | { type: 'command'; command: string; exit_code: number | null }
  | { type: 'todo'; items: TodoItem[] };

export interface Output {
  text: string;
  summary: string;
  images?: Image[];
  display?: Display;
  saved?: { path: string; bytes: number };
  settled?: string[];
  loads?: string[];
}

export type Grant =
  | { type: 'tool'; tool: string }
  | { type: 'command'; command: string }
  | { type: 'rules'; rules: string[] };

export type AskKind =
  | { type: 'approval'; tool: string; detail: string; grant?: Grant }
  | { type: 'question'; options: string[]; several?: boolean }
  | { type: 'form'; fields: Field[] };

export type FieldKind =
  | { type: 'text'; min_length?: number; max_length?: number; format?: 'email' | 'uri' | 'date' | 'date_time' }
  | { type: 'number'; integer?: boolean; min?: number; max?: number }
  | { type: 'flag' }
  | { type: 'choice'; options: { value: unknown; title: string }[]; several?: boolean };

/** One thing to fill in. */
export interface Field {
  name: string;
  title: string;
  description?: string;
  required?: boolean;
  kind: FieldKind;
  default?: unknown;
}

export interface Ask {
  id: AskId;
  call: CallId;
  kind: AskKind;
  question: string;
  deadline?: number;
}

export type Scope = 'once' | 'session' | 'always';
export type Answer =
  | { type: 'approve'; scope: Scope }
  | { type: 'reject'; message?: string }
  | { type: 'text'; text: string }
  | { type: 'form'; values: Record<string, unknown> };

export type EndReason =
  | { reason: 'completed' | 'truncated' | 'refused' | 'interrupted' }
  | { reason: 'round_limit' | 'tool_call_limit' | 'token_limit' | 'cost_limit'; limit: number }
  | { reason: 'time_limit'; limit_ms: number }
  | { reason: 'all_tools_failed' | 'stuck'; rounds: number }
  | { reason: 'model_failed'; failure: Failure };

export interface ChangedFile {
  path: string;
  change: 'created' | 'changed' | 'deleted' | 'mode' | 'not_kept';
  added?: number;
  removed?: number;
}

export type Origin = { from: 'child'; parent: SessionId } | { from: 'fork'; parent: SessionId; seq: number };

export type Event =
  | {
      type: 'session_started';
      workspace: string;
      agent: string;
      model: string;
      mode: Mode;
      origin?: Origin;
      labels?: Record<string, string>;
    }
  | { type: 'title_set'; title: string; spent?: Spent }
  | { type: 'mode_set'; mode: Mode }
  | { type: 'model_set'; model: string }
  | { type: 'limits_set' }
  | {
      type: 'input_received';
      input: InputId;
      content: UserPart[];
      delivery: 'steer' | 'follow_up';
      shorthand?: { typed: string; loads?: string[] };
    }
  | { type: 'input_withdrawn'; input: InputId }
  | { type: 'turn_started'; turn: number; inputs: InputId[] }
  | { type: 'round_started'; round: number; attempt: number; model: string; steered?: InputId[] }
  | { type: 'round_answered'; parts: Part[]; stop: string; spent: Spent; plan?: Plan[] }
  | { type: 'round_failed'; failure: Failure; partial?: string; retry_at?: number; spent?: Spent }
  | { type: 'tool_started'; call: CallId; tool: string; summary: string }
  | { type: 'tool_finished'; call: CallId; tool: string; outcome: Outcome; output: Output; millis: number }
  | { type: 'ask_raised'; ask: Ask }
  | { type: 'ask_answered'; ask: AskId; answer: Answer; by: string }
  | { type: 'ask_withdrawn'; ask: AskId; why: 'expired' | 'superseded' | 'stopped' }
  | { type: 'grant_given'; grant: Grant; always?: boolean }
  | { type: 'stop_requested'; by: 'person' | 'wall_clock' }
  | { type: 'turn_ended'; turn: number; reason: EndReason }
  | { type: 'compaction_started'; cause: string }
  | { type: 'compacted'; upto: number; summary: string; method: string; tokens_before: number; spent?: Spent }
  | { type: 'recovered'; interrupted: CallId[] }
  | { type: 'sampled'; call: CallId; source: string; spent: Spent }
  | { type: 'hook_ran'; hook: string; point: string; result: string }
  | { type: 'files_changed'; turn: number; before: string; after: string; files: ChangedFile[]; more?: number }
  | {
      type: 'files_restored';
      id: string;
      way: 'undo' | 'redo';
      turns: number[];
      files: ChangedFile[];
      more?: number;
      kept?: { path: string; reason: string }[];
    }
  | { type: 'unknown'; kind: number; data: unknown };

export type Recorded = Event & { session: SessionId; seq: number; at: number };

/** What a screen wants between two facts. Never stored. */
export type Live =
  | { type: 'partial'; text: string; thinking?: string }
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  | { type: 'tool_begun'; call: CallId; name: string }
  | { type: 'tool_output'; call: CallId; text: string; replace?: boolean }
  | { type: 'notice'; text: string }
  | { type: 'broken'; text: string };
