/** What the page asks the server for, by name, and how the lists in hand are kept true by the stream of changes. */
import { QueryClient, useInfiniteQuery, useMutation, useQuery, type InfiniteData } from '@tanstack/react-query';
import { toast } from '../shell/toast';
import { api, ApiError, explain, isChanged } from './client';
import type { Answer } from './events';
import type { Colour, Hit, InputPart, OpenAsk, Provider, SessionPage, SessionRow, Status, Version } from './types';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (count, error) => count < 3 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      refetchOnWindowFocus: true,
    },
    mutations: { onError: (error) => toast.problem(error) },
  },
});

export interface ListFilter {
  view: 'inbox' | 'archived' | 'deleted' | 'all';
  status?: string;
  /** With those below it: `work` is also `work/urgent`. */
  label?: string;
  flag?: string;
  workspace?: string;
  /** An expression over what the list knows, such as `unread and cost > 1`. */
  where?: string;
  q?: string;
}

export interface SavedView extends Omit<ListFilter, 'view' | 'q'> {
  name: string;
  view?: string | null;
}
export interface AutoLabel {
  pattern: string;
  label: string;
}
export interface Views {
  views: SavedView[];
  statuses: Status[];
  /** Of labels, by their whole names. */
  colours: Record<string, Colour>;
  /** Labels that sessions get by what is said in them. */
  auto_labels: AutoLabel[];
  labels: { name: string; sessions: number }[];
  /** Which ones these are; a change is refused when there are others by then. */
  version: string;
  /** Why these are not the ones that were saved, if they are not. */
  notice: string | null;
}
const viewsQuery = { queryKey: ['views'], queryFn: () => api.get<Views>('views') };
export const useViews = () => useQuery(viewsQuery);
type ViewsChange = Partial<Pick<Views, 'views' | 'statuses' | 'colours' | 'auto_labels'>> & { renamed?: Record<string, string> };
/**
 * Keeps a change; the rest stays as it is. It is worked out when those before it are kept, so that two in quick
 * succession do not undo each other; and once more when another window was quicker. `renamed` leads from a
 * status's old name to its new one.
 */
export const useKeepViews = () =>
  useMutation({
    scope: { id: 'views' },
    mutationFn: async (change: (now: Views) => ViewsChange) => {
      const keep = (now: Views) => {
        const { views, statuses, colours, auto_labels, version } = now;
        return api.put<Views>('views', { views, statuses, colours, auto_labels, version, ...change(now) });
      };
      try {
        return await keep(await queries.ensureQueryData(viewsQuery));
      } catch (error) {
        if (!isChanged(error)) throw error;
        return keep(await queries.fetchQuery({ ...viewsQuery, staleTime: 0 }));
      }
    },
    onSuccess: (views) => {
      queries.setQueryData(['views'], views);
      // Which sessions fit an expression may be another matter now.
      lookAgain();
    },
  });

export const useSessions = (filter: ListFilter) =>
  useInfiniteQuery({
    queryKey: ['sessions', filter],
    queryFn: ({ pageParam, signal }) => api.get<SessionPage>('sessions', { ...filter, children: filter.view === 'inbox', cursor: pageParam, limit: pageParam ? 500 : 200 }, signal),
    initialPageParam: '' as string,
    getNextPageParam: (page) => page.next ?? undefined,
  });

export const useSearch = (q: string) =>
  useQuery({
    queryKey: ['search', q],
    queryFn: ({ signal }) => api.get<{ hits: Hit[] }>('search', { q, limit: 50 }, signal),
    enabled: q.trim().length > 1,
    placeholderData: (before) => before,
  });

export const useAsks = () => useQuery({ queryKey: ['asks'], queryFn: () => api.get<{ asks: OpenAsk[] }>('asks') });
export const useVersion = () => useQuery({ queryKey: ['version'], queryFn: () => api.get<Version>('version') });
export const useModels = () =>
  useQuery({ queryKey: ['models'], queryFn: () => api.get<{ default: string; providers: Provider[] }>('models') });
export const useWorkspaces = () =>
  useQuery({
    queryKey: ['workspaces'],
    queryFn: () => api.get<{ workspaces: { path: string; name: string; sessions: number; current: boolean }[] }>('workspaces'),
  });

type Pages = InfiniteData<SessionPage, string>;

function belongs(row: SessionRow, filter: ListFilter): boolean {
  if (row.deleted !== (filter.view === 'deleted')) return false;
  if (filter.view === 'inbox' && row.archived) return false;
  if (filter.view === 'archived' && !row.archived) return false;
  if (filter.q) return false;
  if (filter.status && row.status !== filter.status) return false;
  const { label } = filter;
  if (label && !row.labels.some((one) => one === label || one.startsWith(`${label}/`))) return false;
  if (filter.flag && row.flag !== filter.flag) return false;
  return !filter.workspace || row.workspace === filter.workspace;
}

let soon = 0;
function lookAgain() {
  if (soon !== 0) return;
  soon = window.setTimeout(() => {
    soon = 0;
    void queries.invalidateQueries({ queryKey: ['sessions'], predicate: (query) => Boolean((query.queryKey[1] as ListFilter).where) });
  }, 500);
}

/** Says `session` with each row that changed or is gone, for whoever shows none of the lists. */
export const changed = new EventTarget();
/** A session changed: every list that is in hand learns of it, without asking again. */
export function sessionChanged(row: SessionRow) {
  changed.dispatchEvent(new CustomEvent('session', { detail: row }));
  for (const [key, data] of queries.getQueriesData<Pages>({ queryKey: ['sessions'] })) {
    if (!data) continue;
    const filter = key[1] as ListFilter;
    if (filter.where) {
      // Only the server knows what fits an expression.
      lookAgain();
      continue;
    }
    const wanted = row.begun && belongs(row, filter);
    const known = data.pages.some((page) => page.sessions.some((other) => other.id === row.id));
    if (!known && !wanted) continue;
    const pages = data.pages.map((page, index) => {
      let sessions = page.sessions;
      if (known) sessions = wanted ? sessions.map((other) => (other.id === row.id ? row : other)) : sessions.filter((other) => other.id !== row.id);
      else if (index === 0) sessions = [row, ...sessions];
      return sessions === page.sessions ? page : { ...page, sessions };
    });
    queries.setQueryData<Pages>(key, { ...data, pages });
  }
}

export function sessionRemoved(id: string) {
  changed.dispatchEvent(new CustomEvent('session', { detail: { id, deleted: true } }));
  for (const [key, data] of queries.getQueriesData<Pages>({ queryKey: ['sessions'] })) {
    if (!data) continue;
    const pages = data.pages.map((page) => ({ ...page, sessions: page.sessions.filter((row) => row.id !== id) }));
    queries.setQueryData<Pages>(key, { ...data, pages });
  }
}

export const usePatchSession = () =>
  useMutation({
    mutationFn: ({ id, ...change }: { id: string } & Partial<Pick<SessionRow, 'title' | 'mode' | 'model' | 'labels' | 'flag' | 'archived'>> & { read?: boolean; deleted?: false }) =>
      api.patch<SessionRow>(`sessions/${id}`, change),
    onSuccess: (row, { labels }) => {
      sessionChanged(row);
      if (labels) void queries.invalidateQueries({ queryKey: ['views'] });
    },
  });

/** Hidden at once; the toast takes it back while the server still can. */
export async function deleteSession(id: string) {
  try {
    await api.remove(`sessions/${id}`);
    sessionRemoved(id);
    toast.say('Session deleted.', {
      label: 'Undo',
      run: () => {
        api.patch<SessionRow>(`sessions/${id}`, { deleted: false }).then(sessionChanged, toast.problem);
      },
    });
  } catch (error) {
    toast.problem(error);
  }
}

export async function archiveSession(row: SessionRow, archived: boolean) {
  try {
    sessionChanged(await api.patch<SessionRow>(`sessions/${row.id}`, { archived }));
    toast.say(archived ? 'Session archived.' : 'Session is back in the list.', {
      label: 'Undo',
      run: () => void api.patch<SessionRow>(`sessions/${row.id}`, { archived: !archived }).then(sessionChanged, toast.problem),
    });
  } catch (error) {
    toast.problem(error);
  }
}

export type Sent = { sent: true } | { sent: false; secret: { kind: string; near: string } } | { sent: false; secret: null };

const ID_LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';
/** What was sent last and not answered, and under which id. */
let unanswered: { words: string; input: string } | null = null;

/** What is on its way, and whether the log has it before its answer came. */
let sending: { input: string; heard: boolean } | null = null;
/** Says `said` when words whose answer was lost turn out to be said. */
export const arrived = new EventTarget();
/** What the log has is answered: the same words once more are new words. */
export function heard(input: string) {
  if (sending?.input === input) sending.heard = true;
  if (unanswered?.input !== input) return;
  unanswered = null;
  arrived.dispatchEvent(new Event('said'));
}

/**
 * Sends words under an id of our own. Whoever sends the same again, because no answer came, says it once:
 * the server knows the id.
 */
export async function sendOnce<T>(path: string, body: Record<string, unknown>): Promise<T> {
  const words = JSON.stringify([path, body]);
  const letters = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => ID_LETTERS[byte % 32]).join('');
  const input = unanswered?.words === words ? unanswered.input : letters();
  unanswered = null;
  const mine = { input, heard: false };
  sending = mine;
  try {
    return await api.post<T>(path, { ...body, input });
  } catch (error) {
    // In an open session it is seen that it was said, whatever became of the answer.
    if (mine.heard) return undefined as T;
    if (!(error instanceof ApiError) || error.status === 0) unanswered = { words, input };
    throw error;
  }
}

/** Says something. A text that holds a secret is not sent; the person decides. */
export async function say(session: string, content: InputPart[], delivery: 'follow_up' | 'steer', how?: 'anyway' | 'redact'): Promise<Sent> {
  try {
    await sendOnce(`sessions/${session}/turns`, { content, delivery, ...(how ? { [how]: true } : {}) });
    return { sent: true };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'secret') {
      return { sent: false, secret: { kind: String(error.extra['kind'] ?? 'a secret'), near: String(error.extra['near'] ?? '') } };
    }
    // Who is signed out is told so by the banner.
    if (!(error instanceof ApiError && error.status === 401)) toast.problem(error);
    return { sent: false, secret: null };
  }
}

/** Whether an answer was taken, or what it seems to hold that a model should not see. */
export type Taken = { taken: true } | { taken: false; secret: string | null };

/**
 * Answers an ask, once. If somebody else was quicker, the person is told who. An answer that holds a secret is
 * not sent, unless they want it anyway.
 */
export async function answerAsk(session: string, ask: string, answer: Answer, anyway: boolean): Promise<Taken> {
  try {
    await api.post(`sessions/${session}/asks/${ask}`, { answer, ...(anyway ? { anyway } : {}) });
    return { taken: true };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'secret') return { taken: false, secret: String(error.extra['kind'] ?? 'a secret') };
    // Somebody else was quicker: that is news and no trouble.
    if (error instanceof ApiError && error.code === 'answered') toast.say(error.message);
    else toast.problem(error);
    return { taken: false, secret: null };
  } finally {
    void queries.invalidateQueries({ queryKey: ['asks'] });
  }
}

export { explain };
