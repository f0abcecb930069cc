/** One value that the page draws and that lives outside of it. */
import { useSyncExternalStore } from 'react';

export interface Cell<T> {
  get: () => T;
  set: (next: T) => void;
  subscribe: (watcher: () => void) => () => void;
}

export function cell<T>(value: T): Cell<T> {
  const watchers = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const watcher of watchers) watcher();
    },
    subscribe: (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

export const useCell = <T>(of: Cell<T>): T => useSyncExternalStore(of.subscribe, of.get, of.get);
