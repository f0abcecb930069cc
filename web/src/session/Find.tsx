/**
 * Finds words in the whole session. Only a window of its rows is in the page, and perhaps not all of it is loaded,
 * so the browser's own search would miss most of it.
 */
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { placesOf, rowsWith, type Read } from './find';
import { rowsOf } from './rows';
import type { SessionState, SessionStore } from './store';

export function Find({ store, state, open, onFound, onClose }: {
  store: SessionStore; state: SessionState; open: ReadonlySet<string>; onFound: (key: string | null) => void; onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const words = useDeferredValue(text);
  const { view } = state;
  const field = useRef<HTMLInputElement>(null);
  const rows = useMemo(() => (view ? rowsOf(view, open) : []), [view, open]);
  const read = useRef<Read>(new Map());
  const keys = useMemo(() => rowsWith(rows, words, read.current), [rows, words]);
  const place = keys.length > 0 ? at % keys.length : -1;
  const found = keys[place] ?? null;
  const partly = view !== null && view.from > 1;

  useEffect(() => setAt(0), [words]);
  // Once more when the connection is back.
  const live = state.connection === 'live';
  useEffect(() => {
    if (words.trim() && partly && live) void store.reach(1);
  }, [words, partly, live, store]);
  // Not before all is there: the first would be another one then.
  useEffect(() => {
    if (!partly) onFound(found);
  }, [found, at, partly, onFound]);
  useEffect(() => () => onFound(null), [onFound]);
  useMarks(words);

  const move = (by: number) => keys.length > 0 && setAt((place + by + keys.length) % keys.length);
  return (
    <div className="find" role="search" aria-label="In this session" onKeyDown={(event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      onClose();
    }}>
      <input ref={field} className="field" data-find aria-label="Find in this session" placeholder="Find in this session" value={text} autoFocus maxLength={200} onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault();
          move(event.shiftKey ? -1 : 1);
        }} />
      <span className="meta" role="status">{!words.trim() ? '' : partly ? (state.loadingOlder ? 'Loading earlier turns…' : 'Earlier turns are not loaded') : found === null ? 'Not found' : `${place + 1} of ${keys.length}`}</span>
      <button type="button" className="icon-button" aria-label="The one before" title="The one before (Shift + Enter)" disabled={found === null} onClick={() => move(-1)}><ArrowUp /></button>
      <button type="button" className="icon-button" aria-label="The next one" title="The next one (Enter)" disabled={found === null} onClick={() => move(1)}><ArrowDown /></button>
      <button type="button" className="icon-button" aria-label="Close" title="Close (Esc)" onClick={onClose}><X /></button>
    </div>
  );
}

/** Marks the words wherever they are drawn, without touching what is drawn. */
function useMarks(words: string) {
  useEffect(() => {
    const rows = document.querySelector('.transcript .rows');
    if (!rows || !words.trim() || !('highlights' in CSS)) return;
    let frame = 0;
    const mark = () => void CSS.highlights.set('found', new Highlight(...placesOf(rows, words)));
    const soon = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    };
    const observer = new MutationObserver(soon);
    observer.observe(rows, { childList: true, subtree: true, characterData: true });
    mark();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete('found');
    };
  }, [words]);
}
