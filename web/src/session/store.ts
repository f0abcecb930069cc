/**
 * One open session: loads the newest page of its log, then listens. Deltas are gathered and folded once
 * per frame. It holds no truth of its own: `view` is the fold, the rest is the state of the connection.
 */
import { api, address, ApiError, explain, serverNow } from '../api/client';
import type { Live, Origin, Recorded } from '../api/events';
import { heard } from '../api/queries';
import { listen } from '../api/stream';
import type { SessionDetail } from '../api/types';
import { nameOf } from '../inbox/groups';
import { toast } from '../shell/toast';
import { advance, begin, type Input, type Start, type View } from './fold';

export type Connection = 'loading' | 'live' | 'reconnecting' | 'gone' | 'failed';
export interface SessionState {
  view: View | null;
  connection: Connection;
  error: { message: string; advice: string | null } | null;
  loadingOlder: boolean;
  /** All events that the page has, for the trace. */
  events: readonly Recorded[];
  /** The last of what streamed, oldest first; kept only while the trace shows it. */
  deltas: readonly Delta[] | null;
}
/** Something that streamed between two events. */
export interface Delta {
  number: number;
  at: number;
  live: Live;
}
/** So many deltas are kept; the log has what they came to. */
const DELTAS_KEPT = 200;

/** The newest events, enough for a few screens; more come as one scrolls up. */
const FIRST_PAGE = 300;
const PAGE = 1_200;
/** A tab that nobody looks at gives its connection back after this; a browser has few for one server. */
const HIDDEN_MS = 5_000;
interface LogPage {
  events: Recorded[];
  first: number;
  last: number;
  end: number;
}

const originOf = ({ parent, forked_at: seq }: SessionDetail): Origin | null =>
  parent === null ? null : seq === null ? { from: 'child', parent } : { from: 'fork', parent, seq };

export class SessionStore {
  private state: SessionState = { view: null, connection: 'loading', error: null, loadingOlder: false, events: [], deltas: null };
  private watchers = new Set<() => void>();
  private pending: Input[] = [];
  private frame = 0;
  private stop: (() => void) | null = null;
  private start: Start = { from: 1 };
  private closed = false;
  private hidden = 0;
  private heard = 0;
  private loading: Promise<void> | null = null;

  constructor(readonly id: string) {}

  subscribe = (watcher: () => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
  get = () => this.state;

  private set(change: Partial<SessionState>) {
    this.state = { ...this.state, ...change };
    for (const watcher of this.watchers) watcher();
  }

  async open() {
    this.closed = false;
    try {
      const [detail, page] = await Promise.all([
        api.get<SessionDetail>(`sessions/${this.id}`),
        api.get<LogPage>(`sessions/${this.id}/log`, { limit: FIRST_PAGE }),
      ]);
      if (this.closed) return;
      this.start = {
        from: page.events[0]?.seq ?? page.end + 1,
        // Where the beginning is not loaded, what the list shows is all that is known of it.
        title: detail.title ?? ((page.events[0]?.seq ?? 1) > 1 ? nameOf(detail) : null), workspace: detail.workspace, agent: detail.agent, model: detail.model, mode: detail.mode,
        cost: Math.round(detail.cost_usd * 1e9), tokens: detail.tokens, countedTo: detail.seq, running: detail.turn !== null, asks: detail.asks, queue: detail.queue, origin: originOf(detail),
      };
      this.refold(page.events);
      for (const event of page.events) if (event.type === 'input_received') heard(event.input);
      this.set({ connection: 'live', error: null });
      // A tab that was opened in the background listens when it is looked at.
      if (!document.hidden) this.follow();
      document.addEventListener('visibilitychange', this.rest);
    } catch (error) {
      if (this.closed) return;
      const gone = error instanceof ApiError && error.status === 404;
      this.set({ connection: gone ? 'gone' : 'failed', error: explain(error) });
    }
  }

  private refold(events: readonly Recorded[]) {
    const start = { ...this.start, from: events[0]?.seq ?? this.start.from };
    const view = advance(begin(start), events.map((event) => ({ event })));
    // What streams belongs to now, whatever is added before it.
    const live = this.state.view?.live;
    this.set({ events, view: live ? { ...view, live } : view });
  }

  private follow() {
    this.stop?.();
    this.stop = listen({
      address: () => address(`sessions/${this.id}/events`, { after: this.folded() }),
      opened: () => this.set({ connection: 'live' }),
      lost: () => {
        this.set({ connection: 'reconnecting' });
        void this.probe();
      },
      on: {
        event: (data) => this.push({ event: data as Recorded }),
        live: (data) => this.push({ live: data as Live, at: serverNow() }),
        gone: () => this.leave('gone'),
      },
    });
  }

  private rest = () => {
    window.clearTimeout(this.hidden);
    if (document.hidden) {
      this.hidden = window.setTimeout(() => {
        this.stop?.();
        this.stop = null;
      }, HIDDEN_MS);
    } else if (!this.stop && (this.state.connection === 'live' || this.state.connection === 'reconnecting')) this.follow();
  };

  /** Everything up to here is known, folded or waiting for the next frame. */
  private folded(): number {
    this.flush();
    return this.state.view?.seq ?? 0;
  }

  /** A refused stream says nothing of its reason; a request does. */
  private async probe() {
    try {
      await api.get(`sessions/${this.id}`);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.leave('gone');
      if (error instanceof ApiError && error.status === 401) {
        this.set({ error: explain(error) });
        this.leave('failed');
      }
    }
  }

  private leave(connection: Connection) {
    this.stop?.();
    this.stop = null;
    this.set({ connection });
  }

  /** It was deleted. It can be opened again when it is brought back. */
  forget() {
    this.leave('gone');
  }

  private push(input: Input) {
    this.pending.push(input);
    if (this.frame !== 0) return;
    // A hidden page draws no frames; it still keeps up, seldom.
    this.frame = document.hidden ? window.setTimeout(this.flush, 250) : requestAnimationFrame(this.flush);
  }

  private flush = () => {
    this.frame = 0;
    if (this.pending.length === 0 || !this.state.view) return;
    const batch = this.pending;
    this.pending = [];
    const view = advance(this.state.view, batch);
    if (this.state.deltas) {
      const at = Date.now();
      const came = batch.flatMap((input) => ('live' in input ? [{ number: (this.heard += 1), at, live: input.live }] : []));
      if (came.length > 0) this.set({ deltas: [...this.state.deltas, ...came].slice(-DELTAS_KEPT) });
    }
    for (const input of batch) if ('event' in input && input.event.type === 'input_received') heard(input.event.input);
    const fresh = batch.flatMap((input) => ('event' in input && input.event.seq > (this.state.view?.seq ?? 0) && input.event.seq <= view.seq ? [input.event] : []));
    this.set({ view, events: fresh.length ? [...this.state.events, ...fresh] : this.state.events });
    if (view.gap) this.follow();
  };

  /** Begins or ends to keep what streams, for the trace. */
  keepDeltas(keep: boolean) {
    if (keep !== (this.state.deltas !== null)) this.set({ deltas: keep ? [] : null });
  }

  clearDeltas() {
    if (this.state.deltas) this.set({ deltas: [] });
  }

  /** Loads the page before the oldest event; whoever asks while that is under way waits for the same. */
  older(): Promise<void> {
    const view = this.state.view;
    if (!view || view.from <= 1) return Promise.resolve();
    return (this.loading ??= this.loadBefore(view.from).finally(() => (this.loading = null)));
  }

  private async loadBefore(seq: number): Promise<void> {
    this.set({ loadingOlder: true });
    try {
      const page = await api.get<LogPage>(`sessions/${this.id}/log`, { before: seq, limit: PAGE });
      this.flush();
      if (page.events.length > 0) this.refold([...page.events, ...this.state.events]);
    } catch (error) {
      toast.problem(error);
    } finally {
      this.set({ loadingOlder: false });
    }
  }

  /** Loads pages until this event is there. */
  async reach(seq: number): Promise<void> {
    while (!this.closed && this.state.view && this.state.view.from > seq && this.state.view.from > 1) {
      const before = this.state.view.from;
      await this.older();
      if (this.state.view.from === before) return;
    }
  }

  close() {
    this.closed = true;
    window.clearTimeout(this.hidden);
    document.removeEventListener('visibilitychange', this.rest);
    this.stop?.();
    this.stop = null;
  }
}
