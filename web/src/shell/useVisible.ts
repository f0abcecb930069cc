/** Whether the page is looked at. */
import { useSyncExternalStore } from 'react';

const subscribe = (watcher: () => void) => {
  document.addEventListener('visibilitychange', watcher);
  return () => document.removeEventListener('visibilitychange', watcher);
};
export const useVisible = () => useSyncExternalStore(subscribe, () => !document.hidden);
