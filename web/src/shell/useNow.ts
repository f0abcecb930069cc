import { useEffect, useState } from 'react';
import { serverNow } from '../api/client';

/** The time by the server's clock, in steps: whoever shows an age or a countdown looks again this often. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => serverNow());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(serverNow()), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  return now;
}
