/** A notice of the desktop when something waits for the person and no tab of Weft is looked at. */
import type { SessionRow } from '../api/types';

/** Says `session` with the id of the one whose notice was clicked. */
export const chosen = new EventTarget();
const told = new Set<string>();
const KEY = 'weft.notify';

export const notifications = {
  wanted: () => localStorage.getItem(KEY) === 'yes' && 'Notification' in window && Notification.permission === 'granted',
  async want(yes: boolean): Promise<boolean> {
    if (yes && 'Notification' in window && (await Notification.requestPermission()) !== 'granted') return false;
    localStorage.setItem(KEY, yes ? 'yes' : 'no');
    return yes;
  },
};

/** `isInView` says whether another tab of Weft is looked at. */
export function notifyWaiting(row: SessionRow, isInView: () => Promise<boolean>) {
  const key = `${row.id}:${row.asks_open}`;
  if (row.asks_open === 0) {
    for (const old of told) if (old.startsWith(row.id)) told.delete(old);
    return;
  }
  if (told.has(key) || !document.hidden || !notifications.wanted()) return;
  told.add(key);
  void isInView().then((inView) => {
    // It is told of later if it still waits when nobody looks any more.
    if (inView) told.delete(key);
    else notify(row);
  });
}

function notify(row: SessionRow) {
  try {
    const notice = new Notification('Weft waits for you', { body: row.title ?? 'A session has a question.', tag: row.id });
    notice.onclick = () => {
      window.focus();
      chosen.dispatchEvent(new CustomEvent('session', { detail: row.id }));
    };
  } catch {
    // Some phones have notices for installed apps only.
  }
}
