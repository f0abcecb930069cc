/** The list of sessions: grouped, searched in full text, filtered; drawn a window at a time. */
import * as Menu from '@radix-ui/react-dropdown-menu';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Archive, ArchiveRestore, BookOpenCheck, ChevronDown, ChevronRight, Ellipsis, Flag, Pencil, Plus, Tag, Trash2, X } from 'lucide-react';
import { createContext, memo, use, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { archiveSession, deleteSession, useAsks, usePatchSession, useSearch, useSessions, useViews, type ListFilter } from '../api/queries';
import { explain } from '../api/client';
import type { Hit, SessionRow } from '../api/types';
import { Sentence } from '../markdown/inline';
import { age, cents } from '../session/words';
import { askText } from '../shell/prompt';
import { Keys } from '../shell/Shortcuts';
import { useKept } from '../shell/useKept';
import { useNow } from '../shell/useNow';
import { FilterMenu, filterWords } from './FilterMenu';
import { folderName, grouped, nameOf, type ListRow } from './groups';
import { LabelDot, LooksContext, StatusMark, useOwnStatus } from './statuses';

const ALL: ListFilter = { view: 'inbox' };
/** What each session that waits wants to know. */
const QuestionsContext = createContext<ReadonlyMap<string, string>>(new Map());

export function Inbox({ onPick }: { onPick?: () => void }) {
  const [chosen, setFilter] = useKept<ListFilter>('filter');
  const filter = chosen ?? ALL;
  const [typed, setWords] = useKept<string>('search');
  const words = typed ?? '';
  const wanted = useDeferredValue(words.trim());
  const sessions = useSessions(filter);
  const rows = useMemo(() => sessions.data?.pages.flatMap((page) => page.sessions) ?? [], [sessions.data]);
  const views = useViews().data;
  const shown = filterWords(filter, views?.views ?? []);
  const asks = useAsks().data?.asks;
  // The first of each session, as the session shows it.
  const questions = useMemo(() => new Map([...(asks ?? [])].reverse().map(({ session, ask }) => [session, ask.question])), [asks]);
  return (
    <LooksContext value={views}><QuestionsContext value={questions}>
      <div className="header">
        <input
          className="field grow" type="search" placeholder="Search all sessions" aria-label="Search all sessions" value={words} data-search
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => (event.key === 'Escape' ? setWords('') : step(event))}
        />
        <FilterMenu filter={filter} onChange={setFilter} />
        <Link to="/" className="icon-button" title="New session (c)" aria-label="New session" onClick={onPick}><Plus /></Link>
      </div>
      {shown ? (
        <div className="filters">
          <span className="pill cut">{shown}</span>
          <button type="button" className="icon-button" aria-label="Show all sessions" title="Show all sessions" onClick={() => setFilter(null)}><X /></button>
        </div>
      ) : null}
      {wanted.length > 1 ? <Hits words={wanted} onPick={onPick} /> : (
        <Rows rows={rows} state={sessions} filter={filter} onPick={onPick} />
      )}
    </QuestionsContext></LooksContext>
  );
}

/** The arrows lead from the search to the list and through it. */
function step(event: KeyboardEvent) {
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const list = event.currentTarget.closest('.list');
  if (by === 0 || !list) return;
  const stops = [...list.querySelectorAll<HTMLElement>('[data-search], .entry-link')];
  const next = stops[stops.findIndex((one) => one === document.activeElement) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function Rows({ rows, state, filter, onPick }: { rows: SessionRow[]; state: ReturnType<typeof useSessions>; filter: ListFilter; onPick?: () => void }) {
  const now = useNow(60_000);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const list = useMemo(() => grouped(rows, now, open), [rows, now, open]);
  const fold = useCallback((id: string) => setOpen((before) => {
    const next = new Set(before);
    if (!next.delete(id)) next.add(id);
    return next;
  }), []);
  const scroller = useRef<HTMLDivElement>(null);
  const { id: current } = useParams({ strict: false });
  const virtual = useVirtualizer({
    count: list.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (list[index]?.type === 'heading' ? 32 : 52),
    getItemKey: (index) => list[index]?.key ?? index,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const end = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = state;
  useEffect(() => {
    // Early enough that somebody who scrolls fast does not come to a stop.
    if (end >= list.length - 150 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [end, list.length, hasNextPage, isFetchingNextPage, fetchNextPage]);

  if (state.isPending) return <Skeletons />;
  if (state.isError) {
    const { message, advice } = explain(state.error);
    return (
      <div className="empty" role="alert">
        <p>{message} {advice}</p>
        <button type="button" className="button" onClick={() => void state.refetch()}>Try again</button>
      </div>
    );
  }
  if (list.length === 0) {
    return <div className="empty"><p className="muted">{filter.view === 'inbox' && !filter.label && !filter.status && !filter.flag && !filter.where ? 'No sessions yet. Say what you want done, and the first one begins.' : 'Nothing here.'}</p></div>;
  }
  return (
    <div ref={scroller} className="scroll" onKeyDown={step}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {items.map((item) => {
          const entry = list[item.index];
          if (!entry) return null;
          return (
            <div key={item.key} className="placed" style={{ transform: `translateY(${item.start}px)` }}>
              <Entry entry={entry} now={now} current={entry.key === current} deleted={filter.view === 'deleted'} open={open.has(entry.key)} onFold={fold} onPick={onPick} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

const Entry = memo(function Entry({ entry, now, current, deleted, open, onFold, onPick }: {
  entry: ListRow; now: number; current: boolean; deleted: boolean; open: boolean; onFold: (id: string) => void; onPick?: () => void;
}) {
  if (entry.type === 'heading') return <div className="list-heading"><h2>{entry.title}</h2><span>{entry.count}</span></div>;
  return (
    <div className="nest" style={entry.depth > 0 ? { marginLeft: Math.min(entry.depth, 4) * 18 } : undefined}>
      <SessionEntry row={entry.row} now={now} current={current} deleted={deleted} onPick={onPick} />
      {entry.children > 0 ? (
        <button type="button" className="icon-button nest-fold" aria-expanded={open} aria-label={`${open ? 'Hide' : 'Show'} ${entry.children} sessions that ${nameOf(entry.row)} began`} title={open ? 'Hide what it began' : `Show ${entry.children} that it began`} onClick={() => onFold(entry.row.id)}>
          {open ? <ChevronDown /> : <ChevronRight />}
        </button>
      ) : null}
    </div>
  );
});

const STATUS_WORDS = { waiting: 'Waits for you', running: 'Running', failed: 'Ended early', unread: 'Unread', idle: 'Idle' };

function SessionEntry({ row, now, current, deleted, onPick }: { row: SessionRow; now: number; current: boolean; deleted: boolean; onPick?: () => void }) {
  const [renaming, setRenaming] = useState(false);
  const patch = usePatchSession();
  const stands = useOwnStatus(row.flag);
  const asked = use(QuestionsContext).get(row.id);
  // What is being looked at is not news.
  const unread = row.unread && !current;
  const state = row.asks_open > 0 ? 'waiting' : row.status === 'running' ? 'running' : row.status === 'failed' ? 'failed' : unread ? 'unread' : 'idle';
  if (renaming) {
    return (
      <form className="entry" onSubmit={(event) => {
        event.preventDefault();
        const title = String(new FormData(event.currentTarget).get('title') ?? '').trim();
        if (title) patch.mutate({ id: row.id, title });
        setRenaming(false);
      }}>
        <input className="field" name="title" defaultValue={nameOf(row)} aria-label="Title" autoFocus onBlur={() => setRenaming(false)} onKeyDown={(event) => event.key === 'Escape' && setRenaming(false)} maxLength={200} />
      </form>
    );
  }
  return (
    <div className={`entry${current ? ' current' : ''}${stands?.category === 'closed' ? ' closed' : ''}`} data-session={row.id}>
      <Link to="/s/$id" params={{ id: row.id }} className="entry-link" onClick={onPick} aria-current={current ? 'page' : undefined}>
        <span className={`dot ${state}`} role="img" aria-label={STATUS_WORDS[state]} title={STATUS_WORDS[state]} />
        <span className="grow">
          <span className="row">
            <span className={unread ? 'cut grow strong' : 'cut grow'}>{nameOf(row)}</span>
            <time className="meta">{age(row.updated_at, now)}</time>
          </span>
          <span className="row meta">
            <span className="cut grow">{stands ? <StatusMark status={stands} /> : null}{row.flag ? `${row.flag} · ` : ''}{asked !== undefined && row.asks_open > 0 ? <span className="asked"><Sentence text={asked} /></span> : <>{row.app === 'research' ? <BookOpenCheck className="app-icon" aria-hidden /> : null}{row.app === 'chat' ? '' : `${row.app} · `}{folderName(row.workspace)}{row.cost_usd > 0 ? ` · ${cents(row.cost_usd)}` : ''}</>}</span>
            {row.labels.slice(0, 2).map((label) => <span key={label} className="pill"><LabelDot name={label} />{label}</span>)}
          </span>
        </span>
      </Link>
      <EntryMenu row={row} deleted={deleted} onRename={() => setRenaming(true)} />
    </div>
  );
}

function EntryMenu({ row, deleted, onRename }: { row: SessionRow; deleted: boolean; onRename: () => void }) {
  const patch = usePatchSession();
  const statuses = use(LooksContext)?.statuses ?? [];
  const navigate = useNavigate();
  const { id: current } = useParams({ strict: false });
  const setLabels = async () => {
    const typed = await askText({ title: 'Labels', hint: 'Separated by commas. A slash makes a tree, as in work/urgent.', value: row.labels.join(', ') });
    if (typed === null) return;
    patch.mutate({ id: row.id, labels: [...new Set(typed.split(',').map((label) => label.trim()).filter(Boolean))] });
  };
  return (
    <Menu.Root>
      <Menu.Trigger className="icon-button entry-menu" aria-label={`Actions for ${nameOf(row)}`} title="Actions"><Ellipsis /></Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={2}>
          {deleted ? (
            <Menu.Item className="menu-item" onSelect={() => patch.mutate({ id: row.id, deleted: false })}><ArchiveRestore /> Restore</Menu.Item>
          ) : (
            <>
              <Menu.Item className="menu-item" onSelect={() => window.setTimeout(onRename, 60)}><Pencil /> Rename</Menu.Item>
              <Menu.Item className="menu-item" onSelect={() => patch.mutate({ id: row.id, read: row.unread })}><span className="dot unread" /> {row.unread ? 'Mark as read' : 'Mark as unread'}</Menu.Item>
              <Menu.Sub>
                <Menu.SubTrigger className="menu-item"><Flag /> Status<span className="hint">{row.flag ?? 'none'}</span></Menu.SubTrigger>
                <Menu.Portal>
                  <Menu.SubContent className="menu">
                    {statuses.map((status) => <Menu.Item key={status.name} className="menu-item" onSelect={() => patch.mutate({ id: row.id, flag: status.name })}><StatusMark status={status} /> {status.name}{status.shortcut ? <span className="hint"><Keys keys={`s ${status.shortcut}`} /></span> : null}</Menu.Item>)}
                    {/* The server takes an empty word for none, and nothing at all for no change. */}
                    <Menu.Item className="menu-item" onSelect={() => patch.mutate({ id: row.id, flag: '' })}>None</Menu.Item>
                  </Menu.SubContent>
                </Menu.Portal>
              </Menu.Sub>
              <Menu.Item className="menu-item" onSelect={() => void setLabels()}><Tag /> Labels…</Menu.Item>
              <Menu.Item className="menu-item" onSelect={() => void archiveSession(row, !row.archived)}>{row.archived ? <ArchiveRestore /> : <Archive />} {row.archived ? 'Unarchive' : 'Archive'}</Menu.Item>
              <div className="menu-line" />
              <Menu.Item className="menu-item bad" onSelect={() => {
                void deleteSession(row.id);
                if (current === row.id) void navigate({ to: '/' });
              }}><Trash2 /> Delete</Menu.Item>
            </>
          )}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Hits({ words, onPick }: { words: string; onPick?: () => void }) {
  const search = useSearch(words);
  const now = useNow(60_000);
  if (search.isPending) return <Skeletons />;
  if (search.isError) return <div className="empty" role="alert"><p>{explain(search.error).message}</p></div>;
  const hits = search.data?.hits ?? [];
  if (hits.length === 0) return <div className="empty"><p className="muted">No session says “{words}”. Search looks at titles, what you said and what was answered.</p></div>;
  return (
    <div className="scroll" role="list" aria-label="Search results" onKeyDown={step}>
      {bySession(hits).map((hit, index, all) => <HitEntry key={`${hit.session}.${hit.seq}.${hit.kind}`} hit={hit} named={all[index - 1]?.session !== hit.session} now={now} onPick={onPick} />)}
    </div>
  );
}

/** What is of one session stands together, where the best of it stands. */
function bySession(hits: readonly Hit[]): Hit[] {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) groups.set(hit.session, [...(groups.get(hit.session) ?? []), hit]);
  return [...groups.values()].flat();
}

function HitEntry({ hit, named, now, onPick }: { hit: Hit; named: boolean; now: number; onPick?: () => void }) {
  return (
    <div className="entry" role="listitem">
      <Link to="/s/$id" params={{ id: hit.session }} search={hit.kind === 'title' ? {} : { at: hit.seq }} className="entry-link hit" onClick={onPick}>
        {named ? <span className="row"><span className="cut grow strong">{nameOf({ title: hit.title })}</span><time className="meta">{age(hit.at, now)}</time></span> : null}
        <span className="snippet">{hit.kind === 'input' ? 'You: ' : ''}{hit.snippet.map((piece, index) => (piece.hit ? <mark key={index}>{piece.text}</mark> : piece.text))}</span>
      </Link>
    </div>
  );
}

function Skeletons() {
  return (
    <div className="list-skeleton" aria-label="Loading sessions" role="status">
      {[70, 50, 62, 44, 58].map((width, index) => <div key={index} className="skeleton" style={{ width: `${width}%`, height: 14 }} />)}
    </div>
  );
}
