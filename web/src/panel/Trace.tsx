/** Every event as a card, drawn a window at a time: filter, search, pause, clear, copy, export, and a way to the message and back. */
import { useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useSearch } from '@tanstack/react-router';
import { ChevronDown, ChevronRight, Download, Eraser, LocateFixed, Pause, Play } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { api, explain } from '../api/client';
import type { Live, Recorded } from '../api/events';
import type { ContextParts } from '../api/types';
import { CopyButton } from '../markdown/CodeBlock';
import { Sentence } from '../markdown/inline';
import type { Delta, SessionState, SessionStore } from '../session/store';
import { counted, tokens } from '../session/words';
import { cardOf, FAMILIES, matches, PROMPT_WORDS, traceId, turnsOf, type Card, type Family } from './trace';

const cards = new WeakMap<Recorded, Card>();
function card(event: Recorded): Card {
  const known = cards.get(event);
  if (known) return known;
  const made = cardOf(event);
  cards.set(event, made);
  return made;
}

export function Trace({ id, state, store, onJump }: { id: string; state: SessionState; store: SessionStore; onJump: (seq: number) => void }) {
  const [words, setWords] = useState('');
  const [off, setOff] = useState<ReadonlySet<Family>>(new Set());
  const [held, setHeld] = useState<readonly Recorded[] | null>(null);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const { event: wanted } = useSearch({ from: '/s/$id' });
  // Cleared is only what is shown: the log keeps everything, and a click brings it back.
  const [clearedTo, setClearedTo] = useState(0);
  const known = held ?? state.events;
  const turns = useMemo(() => turnsOf(known), [known]);
  const events = useMemo(() => (clearedTo === 0 ? known : known.filter((event) => event.seq > clearedTo)), [known, clearedTo]);
  const shown = useMemo(
    () => events.filter((event) => !off.has(card(event).family) && matches(card(event), event, words.trim(), traceId(id, turns.get(event.seq)))),
    [events, off, words, id, turns],
  );
  // What the model is told first is no event; its card stands before all of them.
  const asked = words.trim().toLowerCase();
  const hasPrompt = clearedTo === 0 && state.view?.from === 1 && known.length > 0 && !off.has('system') && asked.split(/\s+/).every((word) => PROMPT_WORDS.includes(word));
  const lead = hasPrompt ? 1 : 0;
  const latest = useRef({ shown, lead });
  latest.current = { shown, lead };
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.length + lead,
    getScrollElement: () => scroller.current,
    estimateSize: () => 52,
    getItemKey: useCallback((index: number) => shown[index - lead]?.seq ?? 'prompt', [shown, lead]),
    anchorTo: 'end',
    followOnAppend: true,
    overscan: 10,
  });
  const begun = useRef(false);
  useLayoutEffect(() => {
    if (begun.current || shown.length === 0) return;
    begun.current = true;
    virtual.scrollToEnd();
  }, [shown.length, virtual]);
  useEffect(() => {
    if (wanted === undefined) return;
    let current = true;
    void store.reach(wanted).then(() => {
      if (!current) return;
      setOff(new Set());
      setWords('');
      setHeld(null);
      setClearedTo((before) => (wanted <= before ? 0 : before));
      window.setTimeout(() => {
        const index = latest.current.shown.findLastIndex((event) => event.seq <= wanted);
        if (index >= 0) virtual.scrollToIndex(index + latest.current.lead, { align: 'center' });
      }, 30);
    });
    return () => {
      current = false;
    };
  }, [wanted, store, virtual]);

  const toggle = (seq: number) => {
    const next = new Set(open);
    if (!next.delete(seq)) next.add(seq);
    setOpen(next);
  };
  const older = clearedTo === 0 && state.view !== null && state.view.from > 1;
  // Who looks for something means all of the session, also what is not loaded yet.
  const looks = words.trim() !== '' || off.size > 0;
  const live = state.connection === 'live';
  useEffect(() => {
    if (looks && older && live) void store.reach(1);
  }, [looks, older, live, store]);
  const save = async () => {
    if (older && !held) {
      await store.reach(1);
      // Until it is drawn, what is shown is that of before.
      await new Promise((done) => window.setTimeout(done, 50));
    }
    const blob = new Blob([latest.current.shown.map((event) => JSON.stringify(event)).join('\n')], { type: 'application/x-ndjson' });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = `weft-${id}.jsonl`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <>
      <div className="trace-tools">
        <div className="row">
          <input className="field grow" type="search" placeholder="Search, #12 or a trace id" aria-label="Search the trace" value={words} onChange={(event) => setWords(event.target.value)} />
          <button type="button" className="icon-button" aria-pressed={held !== null} title={held ? 'Go on' : 'Pause'} aria-label={held ? 'Go on' : 'Pause'} onClick={() => setHeld(held ? null : state.events)}>{held ? <Play /> : <Pause />}</button>
          <button type="button" className="icon-button" title="Clear; new events go on coming" aria-label="Clear" disabled={events.length === 0} onClick={() => {
            setClearedTo(known.at(-1)?.seq ?? 0);
            if (state.deltas) store.clearDeltas();
          }}><Eraser /></button>
          <button type="button" className="icon-button" title="Export what is shown" aria-label="Export what is shown" onClick={() => void save()}><Download /></button>
        </div>
        <div className="row families" role="group" aria-label="Show">
          {(Object.keys(FAMILIES) as Family[]).map((family) => (
            <button key={family} type="button" className={`family tone-${family}`} aria-pressed={!off.has(family)} onClick={() => {
              const next = new Set(off);
              if (!next.delete(family)) next.add(family);
              setOff(next);
            }}>{FAMILIES[family]}</button>
          ))}
          <button type="button" className="family tone-delta" aria-pressed={state.deltas !== null} onClick={() => store.keepDeltas(state.deltas === null)}>Deltas</button>
        </div>
        <div className="row trace-id"><span className="meta">Trace</span><code>{id}</code><CopyButton text={id} label="Copy trace id" /><span className="grow" /><span className="meta">{shown.length === events.length ? counted(events.length, 'event') : `${shown.length} of ${counted(events.length, 'event')}`}{older ? ', more above' : ''}</span></div>
        {/* What streams is no event: it is shown on request, while it comes. */}
        {held ? <p className="meta">Paused; {state.events.length - held.length} new since.</p> : null}
        {clearedTo > 0 ? <p className="meta row"><span className="grow">Cleared up to #{clearedTo}; the log keeps everything.</span><button type="button" className="button small" onClick={() => setClearedTo(0)}>Show all</button></p> : null}
      </div>
      <div ref={scroller} className="scroll" role={shown.length + lead > 0 ? 'list' : undefined} aria-label="Trace" onScroll={() => {
        if (older && (scroller.current?.scrollTop ?? 999) < 200) void store.older();
      }}>
        {shown.length + lead === 0 ? <p className="pad muted">{events.length === 0 ? (clearedTo > 0 ? 'Nothing new yet.' : 'Nothing has happened yet.') : older && looks && state.loadingOlder ? 'Loading earlier events…' : 'No event fits. Clear the search or show more kinds.'}</p> : null}
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const event = shown[item.index - lead];
            if (!event && item.index >= lead) return null;
            return (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} role="listitem" className="placed" style={{ transform: `translateY(${item.start}px)` }}>
                {event ? <TraceCard event={event} trace={traceId(id, turns.get(event.seq))} onTrace={setWords} open={open.has(event.seq)} wanted={event.seq === wanted} onJump={onJump} onToggle={() => toggle(event.seq)} /> : <PromptCard id={id} open={open.has(0)} onToggle={() => toggle(0)} />}
              </div>
            );
          })}
        </div>
      </div>
      {state.deltas ? <Deltas deltas={state.deltas} /> : null}
    </>
  );
}

/** What the model is told before the conversation. The log does not keep it: it is put together for each turn. */
function PromptCard({ id, open, onToggle }: { id: string; open: boolean; onToggle: () => void }) {
  const context = useQuery({ queryKey: ['context', id, 'prompt'], queryFn: () => api.get<ContextParts>(`sessions/${id}/context`), enabled: open });
  // What was said is in the other cards.
  const parts = context.data?.parts.flatMap(({ name, tokens: count, text }) => (text === undefined ? [] : [{ name, count, text }])) ?? [];
  return (
    <div className="trace-card tone-system">
      <button type="button" className="fold" aria-expanded={open} onClick={onToggle}>
        {open ? <ChevronDown /> : <ChevronRight />}
        <span className="cut grow">System prompt</span>
      </button>
      {open ? (
        <div className="trace-prompt">
          <p className="meta">What the model is told before the conversation, as the next round would send it.</p>
          {context.isPending ? <p className="meta" role="status">Loading…</p> : null}
          {context.isError ? <p className="bad">{explain(context.error).message}</p> : null}
          {parts.map((part) => (
            <details key={part.name} className="part">
              <summary><span className="grow cut">{part.name.charAt(0).toUpperCase() + part.name.slice(1)}</span><span className="meta">{tokens(part.count)} tokens</span></summary>
              <pre className="output" tabIndex={0}>{part.text}</pre>
            </details>
          ))}
          {parts.length > 0 ? <CopyButton text={parts.map((part) => part.text).join('\n\n')} label="Copy system prompt" /> : null}
        </div>
      ) : <p className="trace-text">What the model is told before the conversation</p>}
    </div>
  );
}

const DELTAS_SHOWN = 40;

function Deltas({ deltas }: { deltas: readonly Delta[] }) {
  const end = useRef<HTMLDivElement>(null);
  // In braces: newer browsers return a promise, which is nothing to tidy up with.
  useEffect(() => {
    if (end.current) end.current.scrollTop = end.current.scrollHeight;
  }, [deltas]);
  return (
    <div ref={end} className="deltas" role="log" aria-live="off" aria-label="Deltas" tabIndex={0}>
      {deltas.length === 0 ? <p className="meta">What streams is shown here as it comes.</p> : null}
      {deltas.slice(-DELTAS_SHOWN).map(({ number, live }) => (
        <p key={number}><span className="meta">{number} {live.type}</span> <code>{deltaWords(live)}</code></p>
      ))}
    </div>
  );
}

const clock = (at: number) => new Date(at).toLocaleTimeString(undefined, { hour12: false });

function deltaWords(live: Live): string {
  if (live.type === 'tool_begun') return live.name;
  return ('text' in live ? live.text : '').slice(-200);
}

/** Whether the title has said it all already. */
const plain = (text: string) => text.replaceAll('`', '').replace(/\.$/, '').trim();
const says = (title: string, text: string) => plain(title).startsWith(plain(text));

function TraceCard({ event, trace, onTrace, open, wanted, onToggle, onJump }: { event: Recorded; trace: string; onTrace: (trace: string) => void; open: boolean; wanted: boolean; onToggle: () => void; onJump: (seq: number) => void }) {
  const { family, title, text, seq } = card(event);
  return (
    <div className={`trace-card tone-${family}${wanted ? ' wanted' : ''}`}>
      <div className="row">
        <button type="button" className="fold grow" aria-expanded={open} onClick={onToggle}>
          {open ? <ChevronDown /> : <ChevronRight />}
          <span className="cut grow"><Sentence text={title} /></span>
          <time className="meta" title={new Date(event.at).toLocaleString()}>{clock(event.at)}</time>
          <span className="meta">#{seq}</span>
        </button>
        <button type="button" className="icon-button" title="Show in the conversation" aria-label={`Show event ${seq} in the conversation`} onClick={() => onJump(seq)}><LocateFixed /></button>
      </div>
      {text && !open && !says(title, text) ? <p className="trace-text"><Sentence text={text.slice(0, 160)} /></p> : null}
      {open ? (
        <>
          <p className="trace-of meta">Trace <button type="button" className="link mono" title="Show only this trace" onClick={() => onTrace(trace)}>{trace}</button><CopyButton text={trace} label="Copy trace id" /></p>
          <div className="trace-whole">
            <pre className="output" tabIndex={0}>{JSON.stringify(event, null, 2).slice(0, 100_000)}</pre>
            <CopyButton text={JSON.stringify(event, null, 2)} label="Copy event" />
          </div>
        </>
      ) : null}
    </div>
  );
}
