/** What the server knows of a folder: the shapes of its answers, and how the page asks for them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ApiError } from '../api/client';
import { toast } from '../shell/toast';

/** What the address of the page says. */
export interface KnowledgeSearch {
  q?: string;
  /** The place that is looked at. */
  at?: string;
  domain?: string;
  kind?: string;
  language?: string;
  /** The beginning of the path. */
  path?: string;
  /** Days, as `2026-01-31`; both belong to it. */
  since?: string;
  until?: string;
  /** What is shown instead of the search: `conflicts`, `verify` or `health`. */
  view?: string;
  /** Another folder than the server's own. */
  in?: string;
}
export interface KnowledgeHit {
  path: string;
  line: number;
  end_line: number;
  paragraph: string | null;
  kind: string;
  domain: 'code' | 'documents' | 'history';
  language: string | null;
  name: string;
  context: string;
  score: number;
  parts: { text: number; vector: number; name: number; graph: number };
  snippet: string;
  trust: number;
  freshness: number;
  warning: string | null;
}
/** What a search is limited to. */
export type Limits = Pick<KnowledgeSearch, 'domain' | 'kind' | 'language' | 'path' | 'since' | 'until'>;
export interface Found {
  class: string;
  took_ms: number;
  hits: KnowledgeHit[];
  without_meaning: string | null;
}
export interface Neighbour {
  path: string;
  line: number;
  kind: string;
  name: string;
  context: string;
  edge: string | null;
  at: string;
  depth: number;
  confidence: number;
}
export interface SymbolHere {
  path: string;
  line: number;
  end_line: number;
  kind: string;
  name: string;
  context: string;
  signature: string;
}
export interface Around {
  meant: SymbolHere[];
  before: Neighbour[];
  after: Neighbour[];
  more_before: number;
  more_after: number;
}
export interface Passage {
  path: string;
  language: string | null;
  first: number;
  lines: string[];
  numbered: boolean;
  of: number;
}
export interface Work {
  kind: 'index' | 'rebuild' | 'renew' | 'watch';
  running: boolean;
  done: number;
  of: number;
  bytes: number;
  finishing: boolean;
  report: {
    files: number;
    changed: number;
    removed: number;
    bytes: number;
    seconds: number;
    stopped: boolean;
    passed: { path: string; reason: string }[];
    passed_count: number;
    trouble: string[];
    without_meaning: string | null;
  } | null;
  error: string | null;
}
export interface KnowledgeStatus {
  known: boolean;
  root: string;
  files: number;
  not_searched: number;
  nodes: number;
  edges: number;
  chunks: number;
  disk_bytes: number;
  model: string;
  wanted_model: string | null;
  without_meaning: number;
  up_to_date: boolean;
  notices: string[];
  work: Work | null;
  watch: Work | null;
}

/** While something is under way it is looked at often. */
const RUNNING_MS = 300;
const RESTING_MS = 5_000;

export const useStatus = (workspace: string) =>
  useQuery({
    queryKey: ['knowledge', 'status', workspace],
    queryFn: ({ signal }) => api.get<KnowledgeStatus>('knowledge/status', { workspace }, signal),
    refetchInterval: (query) => (query.state.data?.work?.running ? RUNNING_MS : RESTING_MS),
  });

/** The first millisecond of a day here, or of the one after it; nothing for what is no day. */
export function dayMs(day: string | undefined, after = false): number | undefined {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '');
  if (!parts) return undefined;
  return new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + (after ? 1 : 0)).getTime();
}

/** The limits as the server reads them. */
export function asked(limits: Limits) {
  const until = dayMs(limits.until, true);
  const { domain, kind, language, path } = limits;
  return { domain, kind, language, path, since: dayMs(limits.since), until: until === undefined ? undefined : until - 1 };
}

export const useFound = (q: string, limits: Limits, workspace: string, known: boolean) =>
  useQuery({
    queryKey: ['knowledge', 'search', workspace, asked(limits), q],
    queryFn: ({ signal }) => api.get<Found>('knowledge/search', { q, ...asked(limits), workspace, limit: 30 }, signal),
    enabled: known && q.trim().length > 0,
    placeholderData: (before) => before,
    staleTime: 2_000,
  });

export const usePassage = (place: Place | null, workspace: string) =>
  useQuery({
    queryKey: ['knowledge', 'passage', workspace, place?.path, place?.line],
    queryFn: ({ signal }) => api.get<Passage>('knowledge/passage', { path: place?.path, line: place?.line, around: 16, workspace }, signal),
    enabled: place !== null,
    placeholderData: (before) => before,
  });

export const useAround = (place: Place | null, workspace: string) =>
  useQuery({
    queryKey: ['knowledge', 'around', workspace, place?.path, place?.line],
    queryFn: ({ signal }) => api.get<Around>('knowledge/graph/around', { symbol: place ? `${place.path}:${place.line}` : '', workspace }, signal),
    enabled: place !== null,
    placeholderData: (before) => before,
    // What stands outside every symbol has no neighbours.
    retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status === 404),
  });

export interface Place {
  path: string;
  line: number;
}

/** `src/a.rs:12`, as addresses have it; nothing for what is no place. */
export function placeOf(text: string | undefined): Place | null {
  const found = /^(.+):(\d+)$/.exec(text ?? '');
  return found?.[1] && Number(found[2]) > 0 ? { path: found[1], line: Number(found[2]) } : null;
}
export const placeText = (place: Place) => `${place.path}:${place.line}`;

export function useWork(workspace: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ what, on }: { what: 'index' | 'rebuild' | 'stop' | 'watch'; on?: boolean }) =>
      api.post<KnowledgeStatus>(`knowledge/${what}`, { ...(workspace ? { workspace } : {}), ...(what === 'watch' ? { on } : {}) }),
    onSuccess: (status) => {
      client.setQueryData(['knowledge', 'status', workspace], status);
      void client.invalidateQueries({ queryKey: ['knowledge'] });
    },
    onError: toast.problem,
  });
}
