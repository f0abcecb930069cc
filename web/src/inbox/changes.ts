/**
 * What changes in any session, heard once for all tabs: a browser opens only a few connections to one
 * server, so one tab listens and tells the others.
 */
import { address } from '../api/client';
import { queries, sessionChanged, sessionRemoved } from '../api/queries';
import { listen } from '../api/stream';
import type { SessionRow } from '../api/types';
import { cell, useCell } from '../shell/cell';
import { notifyWaiting } from './notify';

type Change = { session: SessionRow } | { removed: string } | { asks: number } | { online: boolean };
/** Which tab is looked at: asked, and answered by it. */
type Looking = { looking: 'who' | 'me' };
const online = cell(true);
/** So long the stream may be away before it is said. */
const LOST_MS = 2_000;
/** So long a tab that is looked at has to say so. */
const ANSWER_MS = 1_000;
const channel = new BroadcastChannel('weft-changes');
let silence: ReturnType<typeof setTimeout> | undefined;

function apply(change: Change, leading: boolean) {
  if ('session' in change) {
    sessionChanged(change.session);
    if (leading) notifyWaiting(change.session, isInView);
  } else if ('removed' in change) sessionRemoved(change.removed);
  else if ('asks' in change) void queries.invalidateQueries({ queryKey: ['asks'] });
  else if (change.online) {
    clearTimeout(silence);
    const wasLost = !online.get();
    online.set(true);
    // What happened before the stream was open was not heard.
    if (wasLost) void queries.invalidateQueries();
    else for (const key of ['sessions', 'asks']) void queries.invalidateQueries({ queryKey: [key] });
  } else {
    // A stream that is opened anew at once is nothing to tell of.
    clearTimeout(silence);
    silence = setTimeout(() => online.set(false), LOST_MS);
  }
}

/** The tab that listens is in the background; whether another one is not. */
function isInView(): Promise<boolean> {
  return new Promise((done) => {
    const hear = ({ data }: MessageEvent<Change | Looking>) => 'looking' in data && data.looking === 'me' && done(true);
    channel.addEventListener('message', hear);
    window.setTimeout(() => {
      channel.removeEventListener('message', hear);
      done(false);
    }, ANSWER_MS);
    channel.postMessage({ looking: 'who' });
  });
}

export function hearChanges(): void {
  channel.onmessage = ({ data }: MessageEvent<Change | Looking>) => {
    if (!('looking' in data)) apply(data, false);
    else if (data.looking === 'who' && !document.hidden) channel.postMessage({ looking: 'me' });
  };
  const tell = (change: Change) => {
    apply(change, true);
    channel.postMessage(change);
  };
  const lead = () =>
    new Promise<void>(() => {
      listen({
        address: () => address('events'),
        opened: () => tell({ online: true }),
        lost: () => tell({ online: false }),
        on: {
          session: (data) => tell({ session: data as SessionRow }),
          removed: (data) => tell({ removed: (data as { id: string }).id }),
          asks: (data) => tell({ asks: (data as { open: number }).open }),
        },
      });
    });
  // Held until the tab goes; then the next one leads. Without locks every tab listens for itself.
  if (navigator.locks) void navigator.locks.request('weft-changes', lead);
  else void lead();
}

export const useOnline = () => useCell(online);
