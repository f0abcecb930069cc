/** What every settings page is made of: loading, failing and empty states, sections, and one editable value. */
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { api, explain, isChanged } from '../api/client';
import { useModels } from '../api/queries';
import { toast } from '../shell/toast';

export function Page<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  // What is there stays, with all that is typed in it, also when it cannot be loaded again.
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) {
    const { message, advice } = explain(query.error);
    return <div className="empty" role="alert"><p>{message} {advice}</p><button type="button" className="button" onClick={() => void query.refetch()}>Try again</button></div>;
  }
  return <p className="muted" role="status">Loading…</p>;
}

/** What a section is called in an address. */
const placeName = (title: string) => title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');

export function Section({ title, says, children }: { title: string; says?: ReactNode; children: ReactNode }) {
  const id = placeName(title);
  const place = useRef<HTMLElement>(null);
  const { hash } = useLocation();
  useEffect(() => {
    if (id && decodeURIComponent(hash) === id) place.current?.scrollIntoView({ block: 'start' });
  }, [hash, id]);
  return <section ref={place} id={id} className="section"><h2>{title}<a className="here" href={`#${id}`} aria-label={`Address of “${title}”`} title="Address of this section">#</a></h2>{says ? <p className="muted">{says}</p> : null}{children}</section>;
}

export interface Hook {
  on: 'before_prompt' | 'after_prompt' | 'before_tool' | 'after_tool';
  tool?: string;
  command: string;
  timeout_seconds: number;
  on_error: 'refuse' | 'ignore';
}
export interface SettingsData {
  values: Record<string, unknown>;
  /** Which value each has; a change is refused when there is another by then. */
  versions: Record<string, string>;
  editable: string[];
  /** Changed, and as they were until Weft starts again. */
  waiting: string[];
  file: string;
  hooks: Hook[];
  hooks_version: string;
}
export const useSettings = () => useQuery({ queryKey: ['settings'], queryFn: () => api.get<SettingsData>('settings') });

export const shownValue = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Of what is chosen from a list, what each means. */
type Kind = 'text' | 'number' | 'lines' | 'switch' | Readonly<Record<string, string>>;
interface Known {
  label: string;
  kind: Kind;
  hint?: string;
}

/** The settings in plain words. One that is not here is shown by its name. */
const KNOWN: Record<string, Known> = {
  model: { label: 'Model', kind: 'text', hint: 'provider/model' },
  mode: { label: 'Mode', kind: { safe: 'Safe: looks only', ask: 'Ask: asks before changes and commands', auto: 'Auto: goes ahead' } },
  agent: { label: 'Agent', kind: 'text' },
  effort: { label: 'Effort', kind: 'text' },
  'permissions.allow': { label: 'Needs no question', kind: 'lines', hint: 'One rule on each line' },
  'permissions.ask': { label: 'Always asks', kind: 'lines', hint: 'One rule on each line' },
  'permissions.deny': { label: 'Never happens', kind: 'lines', hint: 'One rule on each line' },
  'limits.rounds': { label: 'Rounds', kind: 'number' },
  'limits.tool_calls': { label: 'Tool calls', kind: 'number' },
  'limits.minutes': { label: 'Minutes', kind: 'number' },
  'limits.tokens': { label: 'Tokens', kind: 'number' },
  'limits.cost_usd': { label: 'Cost in US dollars', kind: 'number' },
  'limits.failed_rounds': { label: 'Failed rounds in a row', kind: 'number', hint: 'Rounds in which every tool failed' },
  'limits.repeats': { label: 'Same rounds in a row', kind: 'number', hint: 'The same calls with the same results' },
  'budget.month_usd': { label: 'US dollars a month', kind: 'number' },
  'budget.session_usd': { label: 'US dollars a session', kind: 'number' },
  'budget.turn_usd': { label: 'US dollars a turn', kind: 'number' },
  'sandbox.mode': { label: 'Sandbox', kind: { on: 'On', required: 'Required: nothing runs where it cannot hold', off: 'Off' } },
  'undo.enabled': { label: 'Keep what files were before each turn', kind: 'switch' },
  'undo.keep_days': { label: 'Days to keep it', kind: 'number' },
  'undo.largest_file_mb': { label: 'Largest file, in MB', kind: 'number' },
};

/** As they stand above; others behind them, by name. */
const ORDER = Object.keys(KNOWN);
const placeOf = (name: string) => (ORDER.indexOf(name) + 1 || ORDER.length + 1);
const inOrder = (one: string, other: string) => placeOf(one) - placeOf(other) || one.localeCompare(other);

/** What is typed for a value, and the value that was typed; nothing typed goes back to the default. */
export function written(value: unknown, kind: Kind): string {
  return kind === 'lines' ? (Array.isArray(value) ? value.map(String).join('\n') : '') : shownValue(value);
}
export function typedValue(text: string, kind: Kind): unknown {
  if (kind === 'lines') return text.split('\n').map((line) => line.trim()).filter(Boolean);
  if (text.trim() === '') return null;
  if (kind === 'number') return Number.isFinite(Number(text)) ? Number(text) : text;
  if (kind === 'switch') return text === 'true';
  return text.trim();
}

export function Setting({ name, data }: { name: string; data: SettingsData }) {
  const client = useQueryClient();
  const { label, kind, hint } = KNOWN[name] ?? { label: name, kind: 'text' as const, hint: undefined };
  const value = data.values[name];
  /** What is typed, and the version that it was made from. */
  const [typed, setTyped] = useState<{ text: string; version?: string } | null>(null);
  const save = useMutation({
    mutationFn: ({ next, version }: { next: unknown; version?: string }) => api.patch<SettingsData>('settings', { [name]: next }, version),
    onSuccess: (now) => {
      setTyped(null);
      toast.say(now.waiting.includes(name) ? `Saved: ${label}. It holds when Weft starts again.` : `Saved: ${label}.`);
      client.setQueryData(['settings'], now);
      void client.invalidateQueries({ queryKey: ['sandbox'] });
      void client.invalidateQueries({ queryKey: ['models'] });
    },
    onError: (error) => {
      toast.problem(error);
      if (isChanged(error)) void client.invalidateQueries({ queryKey: ['settings'] });
    },
  });
  const id = `setting-${name}`;
  const version = data.versions[name];
  const type = (text: string) => setTyped((before) => ({ version, ...before, text }));
  const apart = typed !== null && typed.version !== version;
  const models = useModels().data?.providers.flatMap((provider) => provider.models) ?? [];
  const shared = { id, disabled: !data.editable.includes(name), value: typed?.text ?? written(value, kind) };
  return (
    <form className="setting" onSubmit={(event) => {
      event.preventDefault();
      if (typed) save.mutate({ next: typedValue(typed.text, kind), version: typed.version });
    }}>
      <label htmlFor={id}>{label}{data.waiting.includes(name) ? <span className="meta">Holds when Weft starts again</span> : null}{hint ? <span className="meta">{hint}</span> : null}</label>
      {kind === 'switch' ? (
        <input id={id} type="checkbox" disabled={shared.disabled} checked={value === true} onChange={(event) => save.mutate({ next: event.target.checked })} />
      ) : kind === 'lines' ? (
        <textarea {...shared} className="field mono" placeholder="none" onChange={(event) => type(event.target.value)} />
      ) : typeof kind === 'object' ? (
        <select {...shared} className="field" onChange={(event) => save.mutate({ next: event.target.value })}>{Object.entries(kind).map(([one, words]) => <option key={one} value={one}>{words}</option>)}</select>
      ) : (
        <input {...shared} className="field" list={name === 'model' ? `${id}-known` : undefined} inputMode={kind === 'number' ? 'decimal' : undefined} placeholder={kind === 'number' ? 'no limit' : 'not set'} onChange={(event) => type(event.target.value)} />
      )}
      {name === 'model' ? <datalist id={`${id}-known`}>{models.filter((one) => one.ready).map((one) => <option key={one.model} value={one.model} />)}</datalist> : null}
      {kind === 'switch' || typeof kind === 'object' ? null : <button type="submit" className="button small" disabled={typed === null || save.isPending}>Save</button>}
      {apart ? <p className="bad" role="alert">This was changed in another window or on disk while you typed. <button type="button" className="link" onClick={() => setTyped(null)}>Show what it is now</button></p> : null}
    </form>
  );
}

/** All settings whose name begins so. */
export function Settings({ prefixes }: { prefixes: string[] }) {
  const settings = useSettings();
  return (
    <Page query={settings}>
      {(data) => {
        const names = [...new Set([...Object.keys(data.values), ...data.editable])].filter((name) => prefixes.some((prefix) => name === prefix || name.startsWith(`${prefix}.`))).sort(inOrder);
        return (
          <>{names.length === 0 ? <p className="muted">Nothing is set; the defaults hold.</p> : names.map((name) => <Setting key={name} name={name} data={data} />)}</>
        );
      }}
    </Page>
  );
}
