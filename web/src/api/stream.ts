/**
 * A server-sent stream that comes back by itself. It knows when it is connected and when not, tries
 * again at once when the page is looked at or the network returns, and asks for what it missed.
 */

export interface Handlers {
  /** Where to join; asked anew for every connection. */
  address: () => string;
  /** By event name. */
  on: Record<string, (data: unknown) => void>;
  opened?: () => void;
  lost?: () => void;
}

const LONGEST_WAIT_MS = 5_000;
/** The page looks at the clock this often. */
const TICK_MS = 5_000;
/** So late it is only after the machine slept, or the tab did. A connection from before may be dead without knowing it. */
const SLEPT_MS = 20_000;

export function listen({ address, on, opened, lost }: Handlers): () => void {
  let source: EventSource | null = null;
  let timer: number | undefined;
  let tries = 0;
  let closed = false;

  const connect = () => {
    window.clearTimeout(timer);
    if (closed || source) return;
    const current = new EventSource(address());
    source = current;
    current.onopen = () => {
      tries = 0;
      opened?.();
    };
    current.onerror = () => {
      if (source !== current) return;
      current.close();
      source = null;
      lost?.();
      const wait = Math.min(LONGEST_WAIT_MS, 250 * 2 ** tries) * (0.75 + Math.random() / 2);
      tries += 1;
      if (!closed) timer = window.setTimeout(connect, wait);
    };
    for (const [name, handle] of Object.entries(on)) {
      current.addEventListener(name, (event) => {
        if (source === current) handle(JSON.parse((event as MessageEvent<string>).data || 'null'));
      });
    }
  };
  const now = () => {
    if (document.visibilityState === 'visible') {
      tries = 0;
      connect();
    }
  };
  let looked = Date.now();
  const ticker = window.setInterval(() => {
    const since = Date.now() - looked;
    looked = Date.now();
    if (since < SLEPT_MS || document.visibilityState !== 'visible') return;
    source?.close();
    source = null;
    now();
  }, TICK_MS);
  window.addEventListener('online', now);
  document.addEventListener('visibilitychange', now);
  connect();
  return () => {
    closed = true;
    window.clearTimeout(timer);
    window.clearInterval(ticker);
    window.removeEventListener('online', now);
    document.removeEventListener('visibilitychange', now);
    source?.close();
    source = null;
  };
}
