/** Keeps the screen on while a session that somebody looks at works, if they want that. */
import { useEffect } from 'react';
import { useVisible } from './useVisible';

const KEY = 'weft.awake';

export const awake = {
  possible: () => 'wakeLock' in navigator,
  wanted: () => localStorage.getItem(KEY) === 'yes',
  want: (yes: boolean) => localStorage.setItem(KEY, yes ? 'yes' : 'no'),
};

/** A browser lets go of the screen when the page is left, so it is asked again when it is back. */
export function useAwake(running: boolean) {
  const visible = useVisible();
  useEffect(() => {
    if (!running || !visible || !awake.possible() || !awake.wanted()) return;
    // A low battery is a reason for a no, which is nothing to tell of.
    const held = navigator.wakeLock.request('screen').catch(() => null);
    return () => void held.then((lock) => lock?.release());
  }, [running, visible]);
}
