/** What the server answers, besides events. Shapes only; see `client.ts` for the way to it. */
import type { Ask, Grant, InputId, Mode, SessionId, Usage, UserPart } from './events';

export type WorkStatus = 'idle' | 'running' | 'waiting' | 'failed';

export interface SessionRow {
  id: SessionId;
  title: string | null;
  preview: string | null;
  app: string;
  agent: string;
  workspace: string;
  status: WorkStatus;
  labels: string[];
  flag: string | null;
  archived: boolean;
  deleted: boolean;
  unread: boolean;
  asks_open: number;
  cost_usd: number;
  tokens: number;
  turns: number;
  seq: number;
  created_at: number;
  updated_at: number;
  model: string;
  mode: Mode;
  parent: SessionId | null;
  forked_at: number | null;
  begun: boolean;
}

export interface SessionDetail extends SessionRow {
  grants: Grant[];
  context_tokens: number;
  window: number | null;
  queue: { input: InputId; content: UserPart[]; delivery: 'steer' | 'follow_up'; typed?: string | null }[];
  asks: Ask[];
  turn: { number: number; started_at: number; round: number } | null;
  last_end: { reason: string; text: string } | null;
  can_undo: number;
  can_redo: boolean;
  jobs: number;
}

export interface Colour {
  light: string;
  dark: string;
}
export type StatusIconName = 'circle' | 'half' | 'eye' | 'check' | 'cross' | 'pause' | 'flag' | 'star' | 'clock' | 'bolt';
/** One of the person's own words for where work stands. */
export interface Status {
  name: string;
  category: 'open' | 'closed';
  icon: StatusIconName;
  colour: Colour | null;
  /** Pressed after `s`. */
  shortcut: string | null;
}

export interface SessionPage {
  sessions: SessionRow[];
  next: string | null;
  counts: { waiting: number; running: number; unread: number; total: number };
}

export type InputPart =
  | { type: 'text'; text: string }
  | { type: 'image'; media_type: string; data: string }
  | { type: 'upload'; id: string };

export interface OpenAsk {
  session: SessionId;
  title: string | null;
  raised_at: number;
  ask: Ask;
}

export interface ModelInfo {
  model: string;
  window: number | null;
  max_output: number | null;
  price: { input: number; output: number; cache_read: number; cache_write: number } | null;
  images: boolean;
  tools: boolean;
  ready: boolean;
}
export interface Provider {
  name: string;
  key: 'environment' | 'vault' | 'keychain' | 'not_needed' | 'missing';
  key_env: string[];
  models: ModelInfo[];
}

export interface ContextParts {
  model: string;
  window: number | null;
  context_tokens: number;
  parts: { name: string; tokens: number; text?: string }[];
  messages: { role: string; tokens: number; text: string }[];
}

export interface ArtifactVersion {
  turn: number;
  seq: number;
  at: number;
  change: 'created' | 'changed' | 'deleted' | 'mode' | 'not_kept';
  added: number | null;
  removed: number | null;
  size: number | null;
  undone: boolean;
}
export interface Artifact {
  path: string;
  kind: 'document' | 'image' | 'data' | 'code' | 'other';
  versions: ArtifactVersion[];
}

export interface UsageRow {
  key: string;
  calls: number;
  usage: Usage;
  cost_usd: number;
  millis: number;
  unpriced: string[];
}

export interface Hit {
  session: SessionId;
  title: string | null;
  seq: number;
  at: number;
  kind: 'input' | 'answer' | 'title';
  snippet: { text: string; hit: boolean }[];
}

export interface Source {
  name: string;
  kind: string;
  from: 'yours' | 'project';
  state: 'on' | 'off' | 'not_allowed';
  does: string;
}

export interface Version {
  version: string;
  model: string;
  offline: boolean;
  workspace: string;
}
