/** Beside the session: its trace, its files, what it made, what the model sees, what it cost. It remembers its tab. */
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { api, explain } from '../api/client';
import type { ContextParts } from '../api/types';
import { RunPanel, SourcesPanel } from '../research/RunPanel';
import { Diff } from '../session/Diff';
import type { View } from '../session/fold';
import { Todo } from '../session/Rows';
import { modelName } from '../session/Selectors';
import { undo } from '../session/SessionPage';
import type { SessionState, SessionStore } from '../session/store';
import { counted, dollars, duration, tokens } from '../session/words';
import { useWidth } from '../shell/useWidth';
import { Artifacts } from './Artifacts';
import { Trace } from './Trace';

/** Those of a run come first, where there is one. */
const RUN_TABS = [['run', 'Run'], ['sources', 'Sources']] as const;
const TABS = [['trace', 'Trace'], ['files', 'Files'], ['artifacts', 'Artifacts'], ['context', 'Context'], ['usage', 'Usage']] as const;

export function Panel({ id, tab, state, store, onTab, onClose, onJump }: {
  id: string; tab: string; state: SessionState; store: SessionStore; onTab: (tab: string) => void; onClose: () => void; onJump: (seq: number) => void;
}) {
  useEffect(() => localStorage.setItem('weft.panel', tab), [tab]);
  const { source } = useSearch({ from: '/s/$id' });
  const plan = (state.view?.todo.length ?? 0) > 0 || tab === 'plan' ? [['plan', 'Plan'] as const] : [];
  const tabs = (state.view?.runs.length ?? 0) > 0 || tab === 'run' || tab === 'sources' ? [...RUN_TABS, ...plan, ...TABS] : [...plan, ...TABS];
  const shown = tabs.some(([name]) => name === tab) ? tab : 'trace';
  const bar = useRef<HTMLDivElement>(null);
  const width = useWidth(bar);
  const [more, setMore] = useState(false);
  const see = () => setMore(bar.current !== null && bar.current.scrollLeft + bar.current.clientWidth < bar.current.scrollWidth - 4);
  useEffect(() => {
    bar.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' });
    see();
  }, [shown, width, tabs.length]);
  const move = (event: React.KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = tabs[(tabs.findIndex(([name]) => name === shown) + step + tabs.length) % tabs.length];
    if (!next) return;
    onTab(next[0]);
    document.getElementById(`tab-${next[0]}`)?.focus();
  };
  return (
    <>
      <div className="header panel-header">
        <div ref={bar} className={more ? 'tabs grow more' : 'tabs grow'} role="tablist" aria-label="Panel" onKeyDown={move} onScroll={see}>
          {tabs.map(([name, label]) => (
            <button key={name} id={`tab-${name}`} type="button" role="tab" aria-selected={shown === name} aria-controls="panel-body" tabIndex={shown === name ? 0 : -1} onClick={() => onTab(name)}>{label}</button>
          ))}
        </div>
        <button type="button" className="icon-button" aria-label="Close the panel" title="Close ( ] )" onClick={onClose}><X /></button>
      </div>
      <div className="panel-body" id="panel-body" role="tabpanel" aria-labelledby={`tab-${shown}`}>
        {shown === 'run' && state.view ? <RunPanel view={state.view} store={store} onJump={onJump} /> : null}
        {shown === 'sources' && state.view ? <SourcesPanel view={state.view} wanted={source} /> : null}
        {shown === 'plan' && state.view ? <Plan items={state.view.todo} /> : null}
        {shown === 'trace' ? <Trace id={id} state={state} store={store} onJump={onJump} /> : null}
        {shown === 'files' && state.view ? <Files id={id} view={state.view} /> : null}
        {shown === 'artifacts' && state.view ? <Artifacts id={id} filesSeq={state.view.filesSeq} onJump={onJump} /> : null}
        {shown === 'context' ? <Context id={id} seq={state.view?.seq ?? 0} /> : null}
        {shown === 'usage' && state.view ? <Usage view={state.view} events={state.events} /> : null}
      </div>
    </>
  );
}

export function Loaded({ query, children }: { query: { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown }; children: ReactNode }) {
  if (query.isPending) return <p className="pad muted" role="status">Loading…</p>;
  if (query.isError) {
    const { message, advice } = explain(query.error);
    return <div className="empty" role="alert"><p>{message} {advice}</p><button type="button" className="button" onClick={() => void query.refetch()}>Try again</button></div>;
  }
  return children;
}

function Plan({ items }: { items: View['todo'] }) {
  const done = items.filter((item) => item.state === 'done').length;
  return (
    <div className="scroll pad">
      {items.length === 0 ? <p className="muted">There is no plan yet. When the agent makes one, its steps are shown here.</p> : <p className="meta bottom">{done} of {counted(items.length, 'step')} done</p>}
      <Todo items={items} />
    </div>
  );
}

function Files({ id, view }: { id: string; view: View }) {
  const place = useRef<HTMLDivElement>(null);
  const wide = useWidth(place) > 720;
  const changes = view.turns.filter((turn) => turn.files.length > 0);
  const diff = useQuery({
    queryKey: ['diff', id, view.filesSeq],
    queryFn: () => api.get<{ diff: string }>(`sessions/${id}/diff`, { turn: 'all' }),
    placeholderData: (before) => before,
  });
  const last = changes.findLast((turn) => !turn.undone);
  const action = useCallback((path: string) => (path ? <button type="button" className="button small" onClick={() => void undo(id, 'undo', false, path)}>Undo this file</button> : null), [id]);
  return (
    <div className="scroll pad" ref={place}>
      <Loaded query={diff}>
        {!diff.data?.diff.trim() ? <p className="muted">This session has changed no files{changes.some((turn) => turn.undone) ? ', or they were taken back' : ''}. What it changes is shown here, and can be taken back turn by turn or file by file.</p> : (
          <>
            <div className="row bottom">
              <span className="grow meta">{counted(changes.length, 'turn')} changed files</span>
              {last ? <button type="button" className="button small" onClick={() => void undo(id, 'undo')}>Undo turn {last.number}</button> : null}
            </div>
            <Diff text={diff.data.diff} split={wide} action={action} />
          </>
        )}
      </Loaded>
    </div>
  );
}

function Context({ id, seq }: { id: string; seq: number }) {
  const context = useQuery({ queryKey: ['context', id, Math.floor(seq / 5)], queryFn: () => api.get<ContextParts>(`sessions/${id}/context`), placeholderData: (before) => before });
  const data = context.data;
  const total = data ? Math.max(1, data.parts.reduce((sum, part) => sum + part.tokens, 0)) : 1;
  return (
    <div className="scroll pad">
      <Loaded query={context}>
        {data ? (
          <>
            <p className="bottom">{tokens(data.context_tokens)} tokens{data.window ? ` of ${tokens(data.window)}` : ''} go to <code>{data.model}</code> with the next round.</p>
            {data.window ? <Bar share={data.context_tokens / data.window} label="Share of the model's window" /> : null}
            <h3 className="top">By part</h3>
            {data.parts.map((part) => (
              <details key={part.name} className="part">
                <summary><span className="grow cut">{part.name.charAt(0).toUpperCase() + part.name.slice(1)}</span><span className="meta">{tokens(part.tokens)}</span><Bar share={part.tokens / total} label={`Share of ${part.name}`} /></summary>
                {part.text ? <pre className="output" tabIndex={0}>{part.text}</pre> : <p className="meta">Its text is not shown here.</p>}
              </details>
            ))}
            <h3 className="top">Messages</h3>
            {data.messages.map((message, index) => (
              <details key={index} className="part">
                <summary><span className="pill">{message.role}</span><span className="grow cut">{message.text.slice(0, 120)}</span><span className="meta">{tokens(message.tokens)}</span></summary>
                <pre className="output" tabIndex={0}>{message.text}</pre>
              </details>
            ))}
          </>
        ) : null}
      </Loaded>
    </div>
  );
}

export function Bar({ share, label }: { share: number; label: string }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return <div className="bar" role="meter" aria-label={label} aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100}><div style={{ width: `${percent}%` }} /></div>;
}

function Usage({ view, events }: { view: View; events: SessionState['events'] }) {
  const rounds = events.flatMap((event) => (event.type === 'round_answered' ? [event] : []));
  return (
    <div className="scroll pad">
      <dl className="facts">
        <div><dt>Cost</dt><dd>{dollars(view.cost / 1e9)}</dd></div>
        <div><dt>Tokens</dt><dd>{tokens(view.tokens)}</dd></div>
        <div><dt>Turns</dt><dd>{view.turns.at(-1)?.number ?? 0}</dd></div>
        {view.lastUsage ? <div><dt>Last round</dt><dd>{tokens(view.lastUsage.input)} in{view.lastUsage.cache_read ? `, ${Math.round((view.lastUsage.cache_read / Math.max(1, view.lastUsage.input)) * 100)}% from cache` : ''}, {tokens(view.lastUsage.output)} out</dd></div> : null}
      </dl>
      <h3 className="top">Rounds{view.from > 1 ? ' (those loaded)' : ''}</h3>
      {rounds.length === 0 ? <p className="muted">No model has answered yet.</p> : (
        <table className="table rounds">
          <thead><tr><th>Model</th><th>In</th><th>Out</th><th>Time</th><th>Cost</th></tr></thead>
          <tbody>
            {rounds.slice(-100).reverse().map((event) => (
              <tr key={event.seq}><td className="cut" title={event.spent.model}>{modelName(event.spent.model)}</td><td>{tokens(event.spent.usage.input)}</td><td>{tokens(event.spent.usage.output)}</td><td>{duration(event.spent.millis)}</td><td>{dollars(event.spent.cost / 1e9)}</td></tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

