/** What a person has typed or chosen and nobody has saved yet: it outlives another page and a reload, and goes with its tab. */
import { useCallback, useState } from 'react';

export function useKept<T>(name: string): [T | null, (next: T | null) => void] {
  const place = `weft.${name}`;
  const [kept, setKept] = useState<T | null>(() => {
    try {
      return JSON.parse(sessionStorage.getItem(place) ?? 'null') as T | null;
    } catch {
      return null;
    }
  });
  const keep = useCallback((next: T | null) => {
    setKept(next);
    try {
      if (next === null) sessionStorage.removeItem(place);
      else sessionStorage.setItem(place, JSON.stringify(next));
    } catch {
      // There is no room for it: it is still on the screen.
    }
  }, [place]);
  return [kept, keep];
}
