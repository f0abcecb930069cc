/** The frame of the workbench: rail, list, the screen in the middle, and the panel beside it. */
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Bell, BookOpenCheck, Command as CommandIcon, Inbox as InboxIcon, PanelLeft, Settings, Waypoints } from 'lucide-react';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import { api, signedOut, stale } from '../api/client';
import { sessionChanged, useAsks, useVersion, useViews } from '../api/queries';
import type { SessionRow } from '../api/types';
import { wardrobe } from '../theme/theme';
import { useOnline } from '../inbox/changes';
import { Inbox } from '../inbox/Inbox';
import { chosen } from '../inbox/notify';
import { useCell } from './cell';
import { keyWords, listenForKeys, useCommands } from './commands';
import { Palette } from './Palette';
import { Shortcuts } from './Shortcuts';
import { TextPrompt } from './prompt';
import { toast, Toasts } from './toast';

const useMedia = (media: string) =>
  useSyncExternalStore((watcher) => {
    const query = window.matchMedia(media);
    query.addEventListener('change', watcher);
    return () => query.removeEventListener('change', watcher);
  }, () => window.matchMedia(media).matches);
export const useNarrow = () => useMedia('(max-width: 900px)');
/** Here a list and a panel beside it would leave the session no room. */
const useTight = () => useMedia('(max-width: 1200px)');

const openList = new EventTarget();
export function ListButton() {
  return <button type="button" className="icon-button only-narrow" aria-label="Sessions" title="Sessions" onClick={() => openList.dispatchEvent(new Event('open'))}><PanelLeft /></button>;
}

const HAS_NO_LIST = /^\/(settings|knowledge)/;

export function Shell() {
  const navigate = useNavigate();
  const narrow = useNarrow();
  const [palette, setPalette] = useState(false);
  const [shortcuts, setShortcuts] = useState(false);
  const [sheet, setSheet] = useState(false);
  const asks = useAsks().data?.asks ?? [];
  const path = useRouterState({ select: (state) => state.location.pathname });
  const hasPanel = useRouterState({ select: (state) => 'panel' in state.location.search && state.location.search.panel !== undefined });
  const tight = useTight() && !narrow && hasPanel && path.startsWith('/s/');
  const statuses = useViews().data?.statuses ?? [];
  const home = useVersion().data?.workspace;

  useEffect(() => {
    if (home) wardrobe.live(home);
  }, [home]);
  useEffect(() => listenForKeys(), []);
  useEffect(() => {
    const open = (event: Event) => void navigate({ to: '/s/$id', params: { id: (event as CustomEvent<string>).detail } });
    chosen.addEventListener('session', open);
    return () => chosen.removeEventListener('session', open);
  }, [navigate]);
  useEffect(() => setSheet(false), [path, hasPanel]);
  useEffect(() => {
    const open = () => setSheet(true);
    openList.addEventListener('open', open);
    return () => openList.removeEventListener('open', open);
  }, []);
  const focusComposer = () => document.querySelector<HTMLElement>('[data-composer]')?.focus();
  useCommands([
    { id: 'palette', label: 'Go to or do…', keys: 'mod+k', typing: true, hidden: true, run: () => setPalette(true) },
    { id: 'new', label: 'New session', keys: 'c', run: () => void navigate({ to: '/' }).then(() => window.setTimeout(focusComposer, 50)) },
    { id: 'focus', label: 'Write a message', keys: '/', run: focusComposer },
    { id: 'sessions', label: 'Search sessions', keys: 'g s', run: () => void searchSessions() },
    { id: 'waiting', label: 'Next waiting ask', keys: 'g w', run: () => void nextAsk() },
    { id: 'knowledge', label: 'Search what is known', keys: 'g k', run: () => void navigate({ to: '/knowledge' }) },
    { id: 'research', label: 'Research a question', keys: 'g r', run: () => void navigate({ to: '/research' }) },
    { id: 'settings', label: 'Settings', keys: 'g ,', run: () => void navigate({ to: '/settings/$page', params: { page: 'models' } }) },
    ...statuses.map(({ name, shortcut }, index) => ({ id: `status-${index}`, label: `Status: ${name}`, keys: shortcut ? `s ${shortcut}` : undefined, group: 'Status' as const, hidden: !path.startsWith('/s/'), run: () => void setStatus(name) })),
    { id: 'shortcuts', label: 'Keyboard shortcuts', keys: '?', run: () => setShortcuts(true) },
  ]);
  const searchSessions = async () => {
    if (narrow || tight) setSheet(true);
    // Some pages have no room for the list.
    else if (HAS_NO_LIST.test(path)) await navigate({ to: '/' });
    focusWhenThere('[data-search]');
  };
  const nextAsk = async () => {
    // What is in sight comes first; it may be there before the list of all has heard of it.
    const here = [...document.querySelectorAll<HTMLElement>('[data-ask]')];
    const next = here[(here.findIndex((card) => card.contains(document.activeElement)) + 1) % Math.max(1, here.length)];
    if (next) return next.focus();
    const first = asks[0];
    if (!first) return void navigate({ to: '/waiting' });
    await navigate({ to: '/s/$id', params: { id: first.session } });
    focusWhenThere(`[data-ask="${CSS.escape(first.ask.id)}"]`);
  };

  return (
    <div className={tight ? 'shell tight' : 'shell'}>
      <div className="banners"><Banners /></div>
      <nav className="rail" aria-label="Main">
        <img className="mark" src="/icon.svg" alt="Weft" />
        <Link to="/" activeOptions={{ exact: false }} className={path === '/' || path.startsWith('/s/') ? 'active' : ''} title="Sessions (g s)" aria-label="Sessions"><InboxIcon /></Link>
        <Link to="/waiting" title="Waiting for you (g w)" aria-label={`Waiting for you: ${asks.length}`}><Bell />{asks.length > 0 ? <span className="count">{asks.length}</span> : null}</Link>
        <Link to="/knowledge" title="Knowledge (g k)" aria-label="Knowledge"><Waypoints /></Link>
        <Link to="/research" title="Research (g r)" aria-label="Research"><BookOpenCheck /></Link>
        <button type="button" title={`Go to or do (${keyWords('mod+k')})`} aria-label="Command palette" onClick={() => setPalette(true)}><CommandIcon /></button>
        <span className="grow spacer" />
        <Link to="/settings/$page" params={{ page: 'models' }} className={path.startsWith('/settings') ? 'active' : ''} title="Settings (g ,)" aria-label="Settings"><Settings /></Link>
      </nav>
      {tight && sheet ? <div className="overlay" onClick={() => setSheet(false)} /> : null}
      {narrow ? null : <aside className={tight && sheet ? 'list floating' : tight || HAS_NO_LIST.test(path) ? 'list none' : 'list'} aria-label="Sessions" onKeyDown={(event) => tight && event.key === 'Escape' && setSheet(false)}><Inbox /></aside>}
      <Outlet />
      {narrow && sheet ? (
        <>
          <div className="overlay" onClick={() => setSheet(false)} />
          <Sheet label="Sessions" onClose={() => setSheet(false)}><aside className="list"><Inbox onPick={() => setSheet(false)} /></aside></Sheet>
        </>
      ) : null}
      <Palette open={palette} onOpenChange={setPalette} />
      <Shortcuts open={shortcuts} onOpenChange={setShortcuts} />
      <TextPrompt />
      <Toasts />
    </div>
  );
}

/** For the session that has the focus in the list, else for the one that is open. */
async function setStatus(flag: string) {
  const id = document.activeElement?.closest<HTMLElement>('[data-session]')?.dataset['session'] ?? /^\/s\/([^/]+)/.exec(window.location.pathname)?.[1];
  if (!id) return toast.say('Open a session first, or choose one in the list.');
  try {
    const before = (await api.get<SessionRow>(`sessions/${id}`)).flag ?? '';
    const put = (word: string) => api.patch<SessionRow>(`sessions/${id}`, { flag: word }).then(sessionChanged, toast.problem);
    await put(flag);
    toast.say(`Status: ${flag}.`, { label: 'Undo', run: () => void put(before) });
  } catch (error) {
    toast.problem(error);
  }
}

function focusWhenThere(selector: string, tries = 40) {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus();
  // What is not drawn yet takes no focus.
  if (tries > 0 && (!found || document.activeElement !== found)) window.setTimeout(() => focusWhenThere(selector, tries - 1), 50);
}

function Banners() {
  const old = useCell(stale);
  const online = useOnline();
  const out = useCell(signedOut);
  // A stream that is refused does not say why; a request does.
  useEffect(() => {
    if (!online) void api.get('version').catch(() => {});
  }, [online]);
  const version = useVersion();
  // Where one begins, and on the page on models, it is said with more room.
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [hidden, setHidden] = useState(() => sessionStorage.getItem('weft.offline-hint') === 'no');
  return (
    <>
      {old ? (
        <div className="banner loud" role="alert"><span className="grow">Weft was upgraded. This page is from before; load it again to go on.</span><button type="button" className="button small primary" onClick={() => window.location.reload()}>Load again</button></div>
      ) : null}
      {out ? <div className="banner loud" role="alert"><span className="grow">This browser is not signed in any more. Open the address that <code>weft serve</code> printed; nothing is lost.</span></div> : null}
      {!online && !out ? <div className="banner loud" role="alert"><span className="grow">Weft does not answer. If it was stopped, start it with <code>weft serve</code>; this page goes on by itself.</span></div> : null}
      {version.data?.offline && !hidden && path !== '/settings/models' && path !== '/' ? (
        <div className="banner" role="note">
          <span className="grow">No model is set up, so the small built-in offline model answers.<span className="wide-only"> It can read, search, quote and edit, but it does not think.</span></span>
          <Link to="/settings/$page" params={{ page: 'models' }} className="button small">Add a model</Link>
          <button type="button" className="button small" onClick={() => { sessionStorage.setItem('weft.offline-hint', 'no'); setHidden(true); }}>Later</button>
        </div>
      ) : null}
    </>
  );
}

/** Over the page: the focus is led into it, kept there, and back to where it was. */
function Sheet({ label, right = false, onClose, children }: { label: string; right?: boolean; onClose: () => void; children: ReactNode }) {
  const sheet = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    if (!sheet.current?.contains(before)) sheet.current?.focus();
    return () => {
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus();
    };
  }, []);
  const keys = (event: React.KeyboardEvent) => {
    // A menu of the sheet is drawn elsewhere, and has keys of its own.
    if (!event.currentTarget.contains(event.target as Node)) return;
    if (event.key === 'Escape') return onClose();
    if (event.key !== 'Tab') return;
    const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter((one) => one.tabIndex >= 0 && !one.hasAttribute('disabled') && one.offsetParent !== null);
    const [first, last] = [stops[0], stops.at(-1)];
    const at = document.activeElement;
    if (event.shiftKey && (at === first || at === event.currentTarget)) last?.focus();
    else if (!event.shiftKey && at === last) first?.focus();
    else return;
    event.preventDefault();
  };
  return <div ref={sheet} className={right ? 'sheet right' : 'sheet'} role="dialog" aria-modal aria-label={label} tabIndex={-1} onKeyDown={keys}>{children}</div>;
}

const WIDTH = 'weft.panel.width';
const clamp = (width: number) => Math.min(Math.max(width, 280), Math.max(320, window.innerWidth - 700));

/** The panel: beside the session where there is room, over it where there is none. It remembers its width. */
export function Side({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  const narrow = useNarrow();
  const [width, setWidth] = useState(() => clamp(Number(localStorage.getItem(WIDTH)) || 380));
  const resize = useCallback((next: number) => {
    setWidth(clamp(next));
    localStorage.setItem(WIDTH, String(clamp(next)));
  }, []);
  if (narrow) {
    return (
      <>
        <div className="overlay" onClick={onClose} />
        <Sheet label="Panel" right onClose={onClose}>{children}</Sheet>
      </>
    );
  }
  return (
    <div className="side" style={{ width }}>
      <div className="drag" role="separator" aria-orientation="vertical" aria-label="Width of the panel" aria-valuenow={width} aria-valuemin={280} aria-valuemax={1200} tabIndex={0}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') resize(width + 24);
          if (event.key === 'ArrowRight') resize(width - 24);
        }}
        onPointerDown={(event) => {
          const move = (moved: PointerEvent) => resize(window.innerWidth - moved.clientX);
          const up = () => window.removeEventListener('pointermove', move);
          window.addEventListener('pointermove', move);
          window.addEventListener('pointerup', up, { once: true });
          event.preventDefault();
        }} />
      {children}
    </div>
  );
}

/** A page whose code is still on its way, over a slow link. */
export function Coming() {
  return <main className="main"><div className="empty"><p role="status">Loading…</p></div></main>;
}

export function NotFound() {
  return (
    <main className="main">
      <header className="header"><ListButton /><h1>No such page</h1></header>
      <div className="empty"><p>Nothing is at this address.</p><Link to="/" className="button">New session</Link></div>
    </main>
  );
}

/** Something in the page itself broke. The log is untouched; the page can be loaded again. */
export function Trouble({ error }: { error: unknown }) {
  return (
    <main className="main">
      <div className="empty" role="alert">
        <h1>This page broke</h1>
        <p>The session is not touched by it. Load the page again; if it breaks again, this is what to report:</p>
        <pre className="output">{error instanceof Error ? error.message : String(error)}</pre>
        <button type="button" className="button primary" onClick={() => window.location.reload()}>Load again</button>
      </div>
    </main>
  );
}
