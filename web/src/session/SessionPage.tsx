/** One session: its header, its turns, what is queued, the composer, and the panel beside it. */
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { PanelRight, Redo2 } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { api, ApiError } from '../api/client';
import { changed, queries, sendOnce, sessionChanged, usePatchSession, useSessions } from '../api/queries';
import type { InputPart, SessionDetail, SessionRow } from '../api/types';
import { useOnline } from '../inbox/changes';
import { folderName } from '../inbox/groups';
import { Panel } from '../panel/Panel';
import { useAwake } from '../shell/awake';
import { useCommands } from '../shell/commands';
import { ListButton, Side } from '../shell/Shell';
import { toast } from '../shell/toast';
import { useTitle } from '../shell/useTitle';
import { useVisible } from '../shell/useVisible';
import { wardrobe } from '../theme/theme';
import { Composer, focusNext, handOver } from './Composer';
import { Find } from './Find';
import { isRunning, nameOfView, type Turn, type View } from './fold';
import { modelName, MODES, nextMode } from './Selectors';
import { DoingContext, type Doing } from './Rows';
import { SessionStore, type SessionState } from './store';
import { Transcript } from './Transcript';
import { counted, dollars, tokens } from './words';

function useSession(id: string): [SessionStore, SessionState] {
  const store = useMemo(() => new SessionStore(id), [id]);
  useEffect(() => {
    void store.open();
    return () => store.close();
  }, [store]);
  return [store, useSyncExternalStore(store.subscribe, store.get)];
}

export function SessionPage() {
  const { id } = useParams({ from: '/s/$id' });
  return <OpenSession key={id} id={id} />;
}

function OpenSession({ id }: { id: string }) {
  const [store, state] = useSession(id);
  const { at, panel } = useSearch({ from: '/s/$id' });
  const navigate = useNavigate();
  const { view, connection } = state;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [target, setTarget] = useState<number | null>(at ?? null);
  const [sent, setSent] = useState(0);
  const [finding, setFinding] = useState(false);
  const [found, setFound] = useState<string | null>(null);
  const running = view ? isRunning(view) : false;
  const online = useOnline();

  useAwake(running);
  useTitle(view ? (view.asks.length > 0 ? '● ' : '') + nameOfView(view) : '');
  useEffect(() => setTarget(at ?? null), [at]);
  useEffect(() => {
    if (view?.workspace) wardrobe.enter(view.workspace);
  }, [view?.workspace]);
  useEffect(() => () => wardrobe.enter(null), []);
  // What the person looks at is read.
  const visible = useVisible();
  useEffect(() => {
    if (!view || running || !visible) return;
    const timer = window.setTimeout(() => void api.patch<SessionRow>(`sessions/${id}`, { read: true }).then(sessionChanged, () => {}), 800);
    return () => window.clearTimeout(timer);
  }, [id, view?.seq, running, visible]);

  const setPanel = useCallback((next: string | undefined, seq?: number, source?: string) => {
    void navigate({ to: '/s/$id', params: { id }, search: (old: Record<string, unknown>) => ({ ...old, panel: next, event: seq, source }), replace: true });
  }, [id, navigate]);

  /** A copy in which something was said and no answer came: who tries once more goes on with it. */
  const unsure = useRef<{ what: string; row: SessionRow } | null>(null);
  const fork = useCallback(async (seq: number | null, without?: string, again?: InputPart[]): Promise<void> => {
    const what = JSON.stringify([seq, without, again]);
    // Before the first message there is nothing to copy but where it was said.
    const now = seq !== null && seq < 2 ? store.get().view : null;
    const copy = async () => {
      if (now) return api.post<SessionRow>('sessions', { workspace: now.workspace, agent: now.agent, model: now.model, mode: now.mode });
      const row = await sendOnce<SessionRow>(`sessions/${id}/fork`, seq === null ? {} : { at: seq });
      if (seq !== null) await forget(row.id, without);
      return row;
    };
    try {
      const row = unsure.current?.what === what ? unsure.current.row : await copy();
      unsure.current = again ? { what, row } : null;
      if (again) await sendOnce(`sessions/${row.id}/turns`, { content: again, delivery: 'follow_up', anyway: true });
      unsure.current = null;
      sessionChanged(row);
      focusNext();
      await navigate({ to: '/s/$id', params: { id: row.id } });
      toast.say('This is a fork: the session it came from stays as it is.');
    } catch (error) {
      if (error instanceof ApiError && error.status !== 0) unsure.current = null;
      handOver(null);
      toast.problem(error);
    }
  }, [id, store, navigate]);

  const doing = useMemo<Doing>(() => ({
    session: id,
    toggle: (key) => setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    }),
    fork: (seq, input) => void fork(seq, input),
    edit: (turn: Turn, said) => {
      handOver(said);
      void fork(turn.seq - 1, said.input);
    },
    retry: (turn, said) => void fork(turn.seq - 1, said.input, [...(said.text ? [{ type: 'text' as const, text: said.text }] : []), ...said.files.map(({ part }) => ({ type: 'text' as const, text: part })), ...said.images.map(({ media_type, data }) => ({ type: 'image' as const, media_type, data }))]),
    undo: () => void undo(id, 'undo'),
    goOn: () => void api.post(`sessions/${id}/resume`).catch(toast.problem),
    trace: (seq) => setPanel('trace', seq),
    research: () => setPanel('run'),
    source: (source) => setPanel('sources', undefined, source),
  }), [id, fork, setPanel]);

  const patch = usePatchSession();
  const togglePanel = () => setPanel(panel === undefined ? (localStorage.getItem('weft.panel') ?? 'trace') : undefined);
  useCommands([
    { group: 'This session', id: 'panel', label: panel === undefined ? 'Show the panel' : 'Hide the panel', keys: ']', run: togglePanel },
    { group: 'This session', id: 'stop', label: 'Stop the turn', keys: 'escape', hidden: !running, run: () => running && void api.post(`sessions/${id}/stop`).catch(toast.problem) },
    { group: 'This session', id: 'mode', label: 'Next mode', keys: 'shift+tab', typing: true, when: inComposer, run: () => view && modeKey(view.mode) },
    { group: 'This session', id: 'find', label: 'Find in this session', keys: 'mod+f', typing: true, run: () => { setFinding(true); document.querySelector<HTMLInputElement>('[data-find]')?.select(); } },
    { group: 'This session', id: 'fork', label: 'Fork this session', run: () => void fork(null) },
    { group: 'This session', id: 'undo', label: 'Undo the files of the last turn', run: () => void undo(id, 'undo') },
  ]);
  const modeKey = (mode: View['mode']) => {
    const next = nextMode(mode);
    patch.mutate({ id, mode: next });
  };

  // It may be deleted in another tab, and what was deleted may be brought back.
  const gone = connection === 'gone';
  useEffect(() => {
    const hear = (event: Event) => {
      const row = (event as CustomEvent<Pick<SessionRow, 'id' | 'deleted'>>).detail;
      if (row.id !== id) return;
      if (row.deleted) store.forget();
      else if (store.get().connection === 'gone') void store.open();
    };
    changed.addEventListener('session', hear);
    return () => changed.removeEventListener('session', hear);
  }, [id, store]);

  if (gone || (connection === 'failed' && !view)) {
    return <Missing id={id} gone={gone} state={state} retry={() => void store.open()} />;
  }
  return (
    <DoingContext value={doing}>
      <main className="main">
        <SessionHeader id={id} view={view} panelOpen={panel !== undefined} onPanel={togglePanel} />
        {finding && view ? <Find store={store} state={state} open={open} onFound={setFound} onClose={() => { setFinding(false); document.querySelector<HTMLElement>('[data-composer]')?.focus(); }} /> : null}
        {connection === 'reconnecting' && online ? <div className="banner" role="status"><span className="dot running" /> The connection was lost. Trying again; nothing that was recorded is lost.</div> : null}
        {view?.broken ? <div className="banner loud" role="alert">{view.broken}</div> : null}
        <div className="hidden-text" role="status">{!view ? '' : view.asks.length > 0 ? `Waits for you: ${view.asks[0]?.ask.question}` : running ? 'Working' : 'Done'}</div>
        {view ? <Transcript store={store} state={state} open={open} target={target} found={found} sent={sent} onReached={() => setTarget(null)} /> : <Loading />}
        {view ? <Composer id={id} view={view} running={running} onSent={() => setSent((before) => before + 1)} /> : null}
      </main>
      {panel !== undefined && view ? (
        <Side onClose={() => setPanel(undefined)}>
          <Panel id={id} tab={panel} state={state} store={store} onTab={(tab) => setPanel(tab)} onClose={() => setPanel(undefined)} onJump={(seq) => setTarget(seq)} />
        </Side>
      ) : null}
    </DoingContext>
  );
}

/** What was said from `input` on, or at all, and had not been taken up where a copy ends, waits in it: here it is said anew, or not at all. */
async function forget(id: string, input?: string) {
  const { queue } = await api.get<SessionDetail>(`sessions/${id}`);
  const first = input === undefined ? 0 : queue.findIndex((queued) => queued.input === input);
  for (const queued of first < 0 ? [] : queue.slice(first)) await api.remove(`sessions/${id}/queue/${queued.input}`).catch(() => {});
}

/** Takes back the last turn's changes, or all that the session did to one file; or puts them in place again. */
export async function undo(id: string, way: 'undo' | 'redo', force = false, file?: string) {
  try {
    const done = await api.post<{ files: unknown[]; kept?: { path: string }[] }>(`sessions/${id}/${way}`, way === 'undo' ? { force, file } : { force });
    const kept = done.kept?.length ?? 0;
    const count = counted(done.files.length, 'file');
    if (done.files.length > 0 || kept === 0) toast.say(way === 'undo' ? `Took back ${file ? `\`${file}\`` : count}.` : `Put ${count} in place again.`, way === 'undo' ? { label: 'Redo', run: () => void undo(id, 'redo') } : undefined);
    if (kept > 0) toast.say(file ? `\`${file}\` was changed since and stays as it is.` : `${counted(kept, 'file')} changed since and left alone.`, { label: 'Take back anyway', run: () => void undo(id, way, true, file) });
    void queries.invalidateQueries({ queryKey: ['diff', id] });
    void queries.invalidateQueries({ queryKey: ['artifacts', id] });
  } catch (error) {
    toast.problem(error);
  }
}

/** Elsewhere the key moves the focus back, as everywhere. */
const inComposer = () => document.activeElement?.hasAttribute('data-composer') ?? false;

/** As the list calls it: a flow by its name, the usual agent the chat. */
const appOf = (view: View) => view.runs.at(-1)?.flow ?? (view.agent === 'weft' ? 'chat' : view.agent);

function SessionHeader({ id, view, panelOpen, onPanel }: { id: string; view: View | null; panelOpen: boolean; onPanel: () => void }) {
  const patch = usePatchSession();
  const [editing, setEditing] = useState(false);
  const title = view ? nameOfView(view) : 'Loading…';
  const canRedo = view?.turns.some((turn) => turn.undone) ?? false;
  return (
    <header className="header session-header">
      <ListButton />
      {editing ? (
        <form className="grow" onSubmit={(event) => {
          event.preventDefault();
          const next = String(new FormData(event.currentTarget).get('title') ?? '').trim();
          if (next && next !== title) patch.mutate({ id, title: next });
          setEditing(false);
        }}>
          <input className="field" name="title" defaultValue={title} aria-label="Title" autoFocus maxLength={200} onBlur={() => setEditing(false)} onKeyDown={(event) => event.key === 'Escape' && setEditing(false)} />
        </form>
      ) : (
        <h1 className="cut grow"><button type="button" className="title-button cut" title="Rename" onClick={() => setEditing(true)}>{title}</button></h1>
      )}
      {view?.origin ? <Link to="/s/$id" params={{ id: view.origin.parent }} search={view.origin.from === 'fork' ? { at: view.origin.seq } : {}} className="meta from" title="The session that it came from">{view.origin.from === 'fork' ? 'Fork' : 'Begun by another'}</Link> : null}
      {view ? <span className="meta header-meta cut">{[folderName(view.workspace), appOf(view)].filter(Boolean).join(' · ')}<span className="more"> · {modelName(view.model)} · {MODES[view.mode].name}</span></span> : null}
      {view ? <span className="meta" title={`${tokens(view.tokens)} tokens so far`}>{dollars(view.cost / 1e9)}</span> : null}
      {canRedo ? <button type="button" className="icon-button" title="Put the files back in place" aria-label="Redo file changes" onClick={() => void undo(id, 'redo')}><Redo2 /></button> : null}
      <button type="button" className="icon-button" aria-pressed={panelOpen} title="Panel ( ] )" aria-label="Panel" onClick={onPanel}><PanelRight /></button>
    </header>
  );
}

function Loading() {
  return (
    <div className="loading" role="status" aria-label="Loading session">
      {[40, 88, 72, 80].map((width, index) => <div key={index} className="skeleton" style={{ width: `${width}%`, height: 14 }} />)}
    </div>
  );
}

function Missing({ id, gone, state, retry }: { id: string; gone: boolean; state: SessionState; retry: () => void }) {
  const navigate = useNavigate();
  const patch = usePatchSession();
  const deleted = useSessions({ view: 'deleted' }).data?.pages.some((page) => page.sessions.some((row) => row.id === id)) ?? false;
  useTitle(gone ? 'No such session' : '');
  return (
    <main className="main">
      <header className="header"><ListButton /><h1>{gone ? 'No such session' : 'This session cannot be shown'}</h1></header>
      <div className="empty" role="alert">
        <p>{gone ? (deleted ? 'It was deleted less than ten minutes ago, so it can still be restored.' : 'It was deleted, or its address is wrong. A deleted session can be restored for ten minutes.') : `${state.error?.message ?? ''} ${state.error?.advice ?? ''}`}</p>
        <div className="row">
          {gone ? null : <button type="button" className="button primary" onClick={retry}>Try again</button>}
          {gone && deleted ? <button type="button" className="button primary" onClick={() => patch.mutate({ id, deleted: false })}>Restore it</button> : null}
          <button type="button" className="button" onClick={() => void navigate({ to: '/' })}>New session</button>
        </div>
      </div>
    </main>
  );
}
