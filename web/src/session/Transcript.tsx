/**
 * The rows of a session, a window of them at a time. At the end it follows what is new; anywhere else it
 * stays where the person put it and offers the way down. Older pages are loaded as one scrolls up.
 */
import { useVirtualizer, type Range } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { SessionState, SessionStore } from './store';
import { rowAt, rowsOf, type Row } from './rows';
import { Boundary } from './Boundary';
import { RowView } from './Rows';

const ESTIMATES: Record<Row['type'], number> = {
  said: 76, text: 120, thinking: 28, group: 28, call: 28, ask: 180, note: 32, writing: 28, working: 28, end: 44, stage: 44, pause: 160, document: 600,
};

/** So many pixels beyond what is seen are drawn ahead. Counted in rows it would be little of small ones and far too much of long answers. */
const AHEAD = 300;
/** A row that is longer than this is drawn when it is seen: ahead of that it would only be kept in the page. */
const LONG = 2_000;

/** The rows to draw: those in sight, and on both sides as many as fill the room ahead. */
export function around({ startIndex, endIndex, count }: Pick<Range, 'startIndex' | 'endIndex' | 'count'>, size: (index: number) => number): number[] {
  let [first, last] = [startIndex, endIndex];
  for (let room = AHEAD; first > 0 && room > 0 && size(first - 1) <= LONG; room -= size(first)) first -= 1;
  for (let room = AHEAD; last < count - 1 && room > 0 && size(last + 1) <= LONG; room -= size(last)) last += 1;
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export function Transcript({ store, state, open, target, found, sent, onReached }: {
  store: SessionStore; state: SessionState; open: ReadonlySet<string>; target: number | null; found: string | null; sent: number; onReached: () => void;
}) {
  const { view } = state;
  const rows = useMemo(() => (view ? rowsOf(view, open) : []), [view, open]);
  const scroller = useRef<HTMLDivElement>(null);
  const [away, setAway] = useState(false);
  // A document that has just come is read from its beginning: what comes after it moves nothing.
  const [reading, setReading] = useState(false);
  const [seen, setSeen] = useState(0);
  const [marked, setMarked] = useState<number | null>(null);
  const sizes = useRef<(index: number) => number>(() => 28);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ESTIMATES[rows[index]?.type ?? 'call'],
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    anchorTo: reading ? 'start' : 'end',
    followOnAppend: !reading,
    scrollEndThreshold: 80,
    rangeExtractor: useCallback((range: Range) => around(range, (index) => sizes.current(index)), []),
    paddingStart: 16,
    paddingEnd: 24,
  });

  sizes.current = (index) => virtual.measurementsCache[index]?.size ?? 28;

  // A new session opens at its end, unless a place was asked for.
  const begun = useRef(false);
  const shownDocument = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (begun.current || rows.length === 0) return;
    begun.current = true;
    const last = rows.findLastIndex((row) => row.type === 'document');
    shownDocument.current = rows[last]?.key ?? null;
    if (target !== null) return;
    if (last >= 0 && !rows.slice(last).some((row) => row.type === 'said')) virtual.scrollToIndex(last, { align: 'start' });
    else virtual.scrollToEnd();
  }, [rows, target, virtual]);

  // A document is read from its beginning, so a new one is not followed to its end.
  useLayoutEffect(() => {
    const last = rows.findLastIndex((row) => row.type === 'document');
    const key = rows[last]?.key ?? null;
    if (!begun.current || key === null || key === shownDocument.current) return;
    shownDocument.current = key;
    if (away) return;
    setReading(true);
    virtual.scrollToIndex(last, { align: 'start' });
  }, [rows, away, virtual]);

  // Whoever has said something looks for the answer, wherever they were reading.
  useEffect(() => {
    if (sent === 0) return;
    setReading(false);
    virtual.scrollToEnd();
  }, [sent, virtual]);

  // A first page of few rows leaves room; it is filled at once, as scrolling up would.
  const from = view?.from ?? 1;
  useEffect(() => {
    const element = scroller.current;
    if (element && from > 1 && element.scrollHeight < element.clientHeight + 600) void store.older();
  }, [from, rows.length, store]);

  useEffect(() => {
    if (target === null || !view) return;
    let current = true;
    void store.reach(target).then(() => {
      if (!current) return;
      const now = store.get().view;
      const index = now ? rowAt(rowsOf(now, open), target) : -1;
      if (index >= 0) window.setTimeout(() => virtual.scrollToIndex(index, { align: 'center' }), 0);
      setMarked(target);
      onReached();
    });
    return () => {
      current = false;
    };
    // Only a new place is a reason to move.
  }, [target, store, view !== null]);

  // What was looked for is brought into sight.
  useEffect(() => {
    const index = found === null ? -1 : rows.findIndex((row) => row.key === found);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'center' });
    // Only another one is a reason to move.
  }, [found, virtual]);

  // Whoever goes to the end by hand follows again.
  const moved = () => {
    const element = scroller.current;
    if (reading && element && element.scrollHeight - element.scrollTop - element.clientHeight < 80) setReading(false);
  };

  const onScroll = () => {
    const element = scroller.current;
    if (!element) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    const isAway = below > 160;
    if (isAway !== away) {
      setAway(isAway);
      setSeen(view?.seq ?? 0);
    }
    if (element.scrollTop < 600) void store.older();
  };

  // The keyboard of a phone, or a box that grows, takes room from the end of what was in sight.
  const follows = useRef(true);
  follows.current = !away && !reading && target === null;
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let height = element.clientHeight;
    const observer = new ResizeObserver(() => {
      const shrank = element.clientHeight < height;
      height = element.clientHeight;
      if (shrank && follows.current) virtual.scrollToEnd();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [virtual]);

  const fresh = away && view !== null && view.seq > seen;
  const markedIndex = found !== null ? rows.findIndex((row) => row.key === found) : marked === null ? -1 : rowAt(rows, marked);
  return (
    <div className="transcript">
      <div ref={scroller} className="scroll" onScroll={onScroll} onWheel={moved} onTouchEnd={moved} onKeyUp={moved} tabIndex={0} role="log" aria-label="Conversation" aria-live="off">
        {state.loadingOlder ? <div className="older meta" role="status">Loading earlier turns…</div> : null}
        <div className="rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} data-seq={row.seq} className={`placed-row row-${row.type}${item.index === markedIndex ? ' marked' : ''}`} style={{ transform: `translateY(${item.start}px)` }}>
                <div className="measure"><Boundary of={row}><RowView row={row} /></Boundary></div>
              </div>
            );
          })}
        </div>
      </div>
      {away ? (
        <button type="button" className={fresh ? 'chip fresh' : 'chip'} title={fresh ? undefined : 'To the end'} aria-label={fresh ? undefined : 'To the end'} onClick={() => { setReading(false); virtual.scrollToEnd(); }}>
          <ArrowDown /> {fresh ? 'New below' : null}
        </button>
      ) : null}
    </div>
  );
}
