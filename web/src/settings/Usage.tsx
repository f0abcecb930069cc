/** What was used: by day as columns; by model, agent, provider or session as bars; and always as a table. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client';
import type { UsageRow } from '../api/types';
import { dollars, tokens } from '../session/words';
import { Page, Section } from './parts';

const BY = ['day', 'model', 'agent', 'provider', 'session'] as const;
const PERIODS = ['day', 'week', 'month', 'all'] as const;

export function Usage() {
  const [by, setBy] = useState<(typeof BY)[number]>('day');
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>('month');
  const usage = useQuery({ queryKey: ['usage', by, period], queryFn: () => api.get<{ rows: UsageRow[] }>('usage', { by, period }) });
  return (
    <Section title="Usage">
      <div className="row wrap">
        <label>By <select className="field narrow" value={by} onChange={(event) => setBy(event.target.value as typeof by)}>{BY.map((one) => <option key={one}>{one}</option>)}</select></label>
        <label>over <select className="field narrow" value={period} onChange={(event) => setPeriod(event.target.value as typeof period)}>{PERIODS.map((one) => <option key={one} value={one}>{one === 'all' ? 'all time' : `the last ${one}`}</option>)}</select></label>
      </div>
      <Page query={usage}>
        {(data) => {
          if (data.rows.length === 0) return <p className="muted">No model was asked in this time.</p>;
          const priced = data.rows.some((row) => row.cost_usd > 0);
          const size = (row: UsageRow) => (priced ? row.cost_usd : row.usage.input + row.usage.output);
          const most = Math.max(...data.rows.map(size), 1e-12);
          return (
            <>
            {by === 'day' ? <Days rows={data.rows} size={size} shown={priced ? dollars : tokens} /> : null}
            <table className="table usage">
              <thead><tr><th>{by.charAt(0).toUpperCase() + by.slice(1)}</th><th className="wide">{priced ? 'Cost, compared' : 'Tokens, compared'}</th><th className="end">Cost</th><th className="end">Tokens in</th><th className="end">Tokens out</th><th className="end">Calls</th></tr></thead>
              <tbody>
                {data.rows.map((row) => (
                  <tr key={row.key}>
                    <td className="cut">{row.key}</td>
                    <td className="wide"><div className="bar"><div style={{ width: `${(size(row) / most) * 100}%` }} /></div></td>
                    <td className="end">{dollars(row.cost_usd)}{row.unpriced.length > 0 ? <span title={`No price is known for ${row.unpriced.join(', ')}`}> +?</span> : null}</td>
                    <td className="end">{tokens(row.usage.input)}</td><td className="end">{tokens(row.usage.output)}</td><td className="end">{row.calls}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            </>
          );
        }}
      </Page>
    </Section>
  );
}

const DAY_MS = 86_400_000;
const MOST_DAYS = 90;

/** A column for every day from the first to the last, also for those on which nothing was asked. */
export function everyDay(keys: readonly string[]): string[] {
  const sorted = [...keys].filter((key) => /^\d{4}-\d{2}-\d{2}$/.test(key)).sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (!first || !last) return [];
  const days: string[] = [];
  for (let at = Date.parse(last); at >= Date.parse(first) && days.length < MOST_DAYS; at -= DAY_MS) days.unshift(new Date(at).toISOString().slice(0, 10));
  return days;
}

function Days({ rows, size, shown }: { rows: readonly UsageRow[]; size: (row: UsageRow) => number; shown: (value: number) => string }) {
  const days = everyDay(rows.map((row) => row.key));
  if (days.length < 2) return null;
  const by = new Map(rows.map((row) => [row.key, size(row)]));
  const most = Math.max(...by.values(), 1e-12);
  return (
    <figure role="img" aria-label={`By day, from ${days[0]} to ${days.at(-1)}; at most ${shown(most)}`}>
      <div className="days">
        <span className="meta most">{shown(most)}</span>
        {days.map((day) => <div key={day} className="day" title={`${day}: ${shown(by.get(day) ?? 0)}`}><div style={{ height: `${((by.get(day) ?? 0) / most) * 100}%` }} /></div>)}
      </div>
      <figcaption className="day-ends meta"><span>{days[0]}</span><span>{days.at(-1)}</span></figcaption>
    </figure>
  );
}
