/** Knowledge: search as one types, each hit where it stands, what it is linked with, and the index itself. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { explain } from '../api/client';
import { useWorkspaces } from '../api/queries';
import { ListButton } from '../shell/Shell';
import { useTitle } from '../shell/useTitle';
import { Conflicts } from './Conflicts';
import { Filters } from './Filters';
import { Health } from './Health';
import { IndexBar } from './IndexBar';
import { placeOf, placeText, useFound, useStatus, type KnowledgeHit, type KnowledgeSearch, type Place } from './knowledge';
import './knowledge.css';
import { Preview } from './Preview';
import { Verify } from './Verify';

const DOMAINS = [['', 'Everything'], ['code', 'Code'], ['documents', 'Documents'], ['history', 'History']] as const;
const VIEWS = [['', 'Search'], ['conflicts', 'Conflicts'], ['verify', 'Check an answer'], ['health', 'Health']] as const;

export function KnowledgePage() {
  const search = useSearch({ from: '/knowledge' });
  const navigate = useNavigate();
  const [text, setText] = useState(search.q ?? '');
  const asked = useDeferredValue(text);
  const workspace = search.in ?? '';
  const domain = search.domain ?? '';
  const view = search.view ?? '';
  const status = useStatus(workspace);
  const known = status.data?.known ?? false;
  const found = useFound(asked, search, workspace, known && !view);
  const box = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const place = placeOf(search.at);
  const hits = asked.trim() && found.data ? found.data.hits : [];
  const picked = place ? hits.findIndex((hit) => hit.path === place.path && hit.line === place.line) : -1;
  useTitle(text ? `${text} · Knowledge` : 'Knowledge');
  useEffect(() => {
    box.current?.focus();
  }, []);
  const latest = useRef<KnowledgeSearch>(search);
  latest.current = search;
  const change = useCallback((part: KnowledgeSearch, replace = true) => void navigate({ to: '/knowledge', search: { ...latest.current, ...part }, replace }), [navigate]);
  useEffect(() => {
    if ((latest.current.q ?? '') === asked) return;
    const timer = window.setTimeout(() => change({ q: asked || undefined }), 300);
    return () => window.clearTimeout(timer);
  }, [asked, change]);
  const go = (to: Place | null, push = false) => change({ at: to ? placeText(to) : undefined }, !push);
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || hits.length === 0) return;
    event.preventDefault();
    const next = Math.min(hits.length - 1, Math.max(0, picked + step));
    const hit = hits[next];
    if (hit) go(hit);
    void list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
  };

  return (
    <main className="main knowledge">
      <header className="header">
        <ListButton />
        <h1>Knowledge</h1>
        <span className="grow" />
        <Folder value={workspace} onChange={(folder) => change({ in: folder || undefined, at: undefined }, false)} />
      </header>
      <IndexBar workspace={workspace} />
      <nav className="views" aria-label="Views of what is known">
        {VIEWS.map(([value, name]) => <button key={value} type="button" aria-current={view === value ? 'page' : undefined} onClick={() => change({ view: value || undefined }, false)}>{name}</button>)}
      </nav>
      {view === 'conflicts' && known ? <Conflicts workspace={workspace} /> : null}
      {view === 'verify' && known ? <Verify workspace={workspace} /> : null}
      {view === 'health' && known ? <Health workspace={workspace} /> : null}
      {view && !known ? <p className="muted hint">Index this folder first; then it can be judged.</p> : null}
      {view ? null : <>
      <div className="knowledge-search" role="search">
        <input ref={box} className="field" type="search" placeholder="A name, a path, or a question" aria-label="Search what is known" value={text} data-composer
          onChange={(event) => setText(event.target.value)} onKeyDown={move} />
        <select className="field" aria-label="Search in" value={domain} onChange={(event) => change({ domain: event.target.value || undefined })}>
          {DOMAINS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}
        </select>
        <Filters limits={search} onChange={change} />
      </div>
      <div className={place ? 'knowledge-body picked' : 'knowledge-body'}>
        <div className="scroll results" onKeyDown={move}>
          <p className="meta count" role="status">{summary(asked, status.data?.known ?? true, found.isError ? explain(found.error).message : null, found.data && asked.trim() ? { hits: hits.length, ms: found.data.took_ms } : null)}</p>
          {asked.trim() && found.data?.without_meaning ? <p className="meta count" role="status">{found.data.without_meaning}</p> : null}
          <ul ref={list} aria-label="Results">
            {hits.map((hit, index) => <Result key={`${hit.path}:${hit.line}:${hit.name}`} hit={hit} picked={index === picked} onPick={() => go(hit)} />)}
          </ul>
        </div>
        <div className="scroll">
          {place ? (
            <>
              <button type="button" className="button small only-phone" onClick={() => go(null)}>Back to the results</button>
              <Preview key={workspace} place={place} hit={hits[picked]} workspace={workspace} onGo={(to) => go(to, true)} />
            </>
          ) : <p className="muted hint">Choose a result to see it where it stands, and what it is linked with. <kbd>↓</kbd> and <kbd>↑</kbd> go through them.</p>}
        </div>
      </div>
      </>}
    </main>
  );
}

export function summary(asked: string, known: boolean, error: string | null, found: { hits: number; ms: number } | null): string {
  if (!known) return 'Index this folder first; then everything in it can be found.';
  if (error) return error;
  if (!asked.trim()) return 'Code, documents and history, by words, by meaning and by name.';
  if (!found) return 'Searching…';
  if (found.hits === 0) return 'Nothing was found. “Take in changes” looks for what is new.';
  return `${found.hits === 1 ? '1 result' : `${found.hits} results`} in ${found.ms < 10 ? found.ms.toFixed(1) : Math.round(found.ms)} ms`;
}

function Result({ hit, picked, onPick }: { hit: KnowledgeHit; picked: boolean; onPick: () => void }) {
  const name = hit.name || hit.context.split(' > ').pop() || hit.path.split('/').pop();
  return (
    <li>
      <button type="button" className={picked ? 'result picked' : 'result'} aria-current={picked ? 'true' : undefined} onClick={onPick}>
        <span className="row"><strong className="cut">{name}</strong><span className="pill">{hit.kind}</span><span className="grow" /><span className="meta">{hit.score.toFixed(2)}</span></span>
        <span className="meta cut mono">{hit.path}:{hit.line}{hit.paragraph ? ` [${hit.paragraph}]` : ''}</span>
        <code className="snippet">{hit.snippet.split('\n').slice(0, 2).join('\n')}</code>
        {hit.warning ? <span className="meta">{hit.warning}</span> : null}
      </button>
    </li>
  );
}

function Folder({ value, onChange }: { value: string; onChange: (folder: string) => void }) {
  const workspaces = useWorkspaces().data?.workspaces ?? [];
  const current = workspaces.find((one) => one.current)?.path ?? '';
  return (
    <form className="folder" onSubmit={(event) => { event.preventDefault(); onChange(String(new FormData(event.currentTarget).get('folder') ?? '').trim()); }}>
      <input key={value || current} className="field mono" name="folder" list="knowledge-folders" aria-label="Folder, by its whole path" defaultValue={value || current} onBlur={(event) => { const typed = event.target.value.trim(); if (typed !== (value || current)) onChange(typed === current ? '' : typed); }} />
      <datalist id="knowledge-folders">{workspaces.map((one) => <option key={one.path} value={one.path} />)}</datalist>
    </form>
  );
}
