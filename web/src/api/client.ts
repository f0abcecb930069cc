/**
 * The one way to the server: every request, and what its failures say to a person.
 * Nothing here leaves the machine; the address is always the page's own.
 */

import { cell } from '../shell/cell';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly advice: string | null,
    readonly extra: Record<string, unknown>,
  ) {
    super(message);
  }
}

const BASE = '/api/v1/';
type Query = Record<string, string | number | boolean | undefined | null>;

/** The version of the program that served this page; empty while developing. */
const loaded = () => document.querySelector('meta[name="weft-version"]')?.getAttribute('content') ?? '';
/** Whether the server is another version than the one that this page came from. */
export const stale = cell(false);
/** Whether the server does not know this browser any more. */
export const signedOut = cell(false);

/** How far the server's clock is ahead of this browser's: all times come from there. Less than a few seconds is the way. */
let ahead = 0;
export const serverNow = () => Date.now() + ahead;

function notice(version: string | null, date: string | null) {
  const off = Date.parse(date ?? '') - Date.now();
  if (Number.isFinite(off)) ahead = Math.abs(off) > 5_000 ? off : 0;
  const mine = loaded();
  if (version && mine && !mine.startsWith('%') && mine !== version) stale.set(true);
}

export function address(path: string, query?: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return BASE + path + (text ? `?${text}` : '');
}

async function failure(response: Response): Promise<ApiError> {
  const fallback = response.status === 401
    ? 'This browser is not signed in. Open the address that `weft serve` printed.'
    : `The server answered with status ${response.status}.`;
  try {
    const body = (await response.json()) as { error?: Record<string, unknown> };
    const error = body.error ?? {};
    const { code, message, advice, ...extra } = error;
    return new ApiError(
      response.status,
      typeof code === 'string' ? code : 'failed',
      typeof message === 'string' ? message : fallback,
      typeof advice === 'string' ? advice : null,
      extra,
    );
  } catch {
    return new ApiError(response.status, 'failed', fallback, null, {});
  }
}

const offline = () => new ApiError(0, 'offline', 'Weft does not answer.', 'Start it again with `weft serve`; nothing is lost.', {});

export interface Options {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  /** The version that a change was made from; it is refused when there is another by then. */
  read?: string;
}

async function send(method: string, path: string, { query, body, signal, read }: Options): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json', ...(read ? { 'if-match': `"${read}"` } : {}) };
  let payload: BodyInit | undefined;
  if (body instanceof Blob) {
    payload = body;
    headers['content-type'] = body.type || 'application/octet-stream';
  } else if (body !== undefined) {
    payload = JSON.stringify(body);
    headers['content-type'] = 'application/json';
  }
  let response: Response;
  try {
    response = await fetch(address(path, query), { method, headers, body: payload, signal, credentials: 'same-origin' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw offline();
  }
  notice(response.headers.get('x-weft-version'), response.headers.get('date'));
  signedOut.set(response.status === 401);
  if (!response.ok) throw await failure(response);
  return response;
}

async function json<T>(method: string, path: string, options: Options): Promise<T> {
  const response = await send(method, path, options);
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** Sends a file and tells how much of it is there, from 0 to 1. `fetch` does not say that. */
export function upload<T>(path: string, query: Query, file: Blob, progress: (share: number) => void, signal: AbortSignal): Promise<T> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open('POST', address(path, query));
    request.setRequestHeader('accept', 'application/json');
    request.setRequestHeader('content-type', file.type || 'application/octet-stream');
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onerror = () => fail(offline());
    request.onabort = () => fail(new DOMException('Taken back', 'AbortError'));
    request.onload = () => {
      notice(request.getResponseHeader('x-weft-version'), request.getResponseHeader('date'));
      if (request.status < 300) done(JSON.parse(request.responseText) as T);
      else void failure(new Response(request.responseText, { status: request.status })).then(fail);
    };
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}

export const api = {
  get: <T>(path: string, query?: Query, signal?: AbortSignal) => json<T>('GET', path, { query, signal }),
  text: async (path: string, query?: Query) => (await send('GET', path, { query })).text(),
  post: <T>(path: string, body?: unknown, query?: Query) => json<T>('POST', path, { body: body ?? {}, query }),
  put: <T>(path: string, body: unknown) => json<T>('PUT', path, { body }),
  patch: <T>(path: string, body: unknown, read?: string) => json<T>('PATCH', path, { body, read }),
  remove: <T>(path: string, read?: string) => json<T>('DELETE', path, { read }),
};

/** Whether something was not saved because it is no longer what this page had read. */
export const isChanged = (error: unknown) => error instanceof ApiError && error.code === 'changed';

/** What happened and what to do, as one text for a toast or an error state. */
export function explain(error: unknown): { message: string; advice: string | null } {
  if (error instanceof ApiError) return { message: error.message, advice: error.advice };
  return { message: error instanceof Error ? error.message : String(error), advice: null };
}
