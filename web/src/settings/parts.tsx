/** What every settings page is made of: loading, failing and empty states, sections, and one editable value. */
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, explain } from '../api/client';
import { toast } from '../shell/toast';

export function Page<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.isPending) return <p className="muted" role="status">Loading…</p>;
  if (query.isError) {
    const { message, advice } = explain(query.error);
    return <div className="empty" role="alert"><p>{message} {advice}</p><button type="button" className="button" onClick={() => void query.refetch()}>Try again</button></div>;
  }
  return <>{children(query.data)}</>;
}

export function Section({ title, says, children }: { title: string; says?: ReactNode; children: ReactNode }) {
  return <section className="section"><h2>{title}</h2>{says ? <p className="muted">{says}</p> : null}{children}</section>;
}

export interface SettingsData {
  values: Record<string, unknown>;
  editable: string[];
  file: string;
}
export const useSettings = () => useQuery({ queryKey: ['settings'], queryFn: () => api.get<SettingsData>('settings') });

export const shownValue = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** Reads what was typed the way it was written: JSON where it was JSON, text where it was text. */
export function typedValue(text: string, before: unknown): unknown {
  if (text.trim() === '') return null;
  if (typeof before === 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function Setting({ name, data }: { name: string; data: SettingsData }) {
  const client = useQueryClient();
  const value = data.values[name];
  const [text, setText] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: (next: unknown) => api.patch('settings', { [name]: next }),
    onSuccess: () => {
      setText(null);
      toast.say(`Saved ${name}.`);
      void client.invalidateQueries({ queryKey: ['settings'] });
    },
    onError: toast.problem,
  });
  const editable = data.editable.includes(name);
  return (
    <form className="setting" onSubmit={(event) => {
      event.preventDefault();
      if (text !== null) save.mutate(typedValue(text, value));
    }}>
      <label htmlFor={`setting-${name}`}><code>{name}</code></label>
      {editable ? (
        <>
          <input id={`setting-${name}`} className="field mono" value={text ?? shownValue(value)} placeholder="not set" onChange={(event) => setText(event.target.value)} />
          <button type="submit" className="button small" disabled={text === null || save.isPending}>Save</button>
        </>
      ) : <output id={`setting-${name}`} className="mono cut">{shownValue(value) || 'not set'}</output>}
    </form>
  );
}

/** All settings whose name begins so. */
export function Settings({ prefixes }: { prefixes: string[] }) {
  const settings = useSettings();
  return (
    <Page query={settings}>
      {(data) => {
        const names = [...new Set([...Object.keys(data.values), ...data.editable])].filter((name) => prefixes.some((prefix) => name === prefix || name.startsWith(`${prefix}.`))).sort();
        return (
          <>
            {names.length === 0 ? <p className="muted">Nothing is set; the defaults hold.</p> : names.map((name) => <Setting key={name} name={name} data={data} />)}
            <p className="meta">Kept in <code>{data.file}</code>.</p>
          </>
        );
      }}
    </Page>
  );
}
