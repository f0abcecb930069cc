/** How healthy the code is, the whole first and then each folder in it; a folder can be gone into. */
import { useState } from 'react';
import { explain } from '../api/client';
import { useHealth, type Area } from './judgement';

const WORDS = { DISCIPLINED: 'Disciplined', TRANSITIONAL: 'In transition', LEGACY: 'Legacy', GREENFIELD: 'Just begun' } as const;
const percent = (share: number) => `${Math.round(share * 100)}%`;

export function Health({ workspace }: { workspace: string }) {
  const [path, setPath] = useState('');
  const health = useHealth(path, workspace);
  const [whole, ...parts] = health.data?.areas ?? [];
  const up = path.split('/').slice(0, -1).join('/');
  return (
    <section className="scroll judged" aria-label="Health of the code">
      {path ? <button type="button" className="button small" onClick={() => setPath(up)}>Back to {up || 'everything'}</button> : null}
      {health.isError ? <p role="alert">{explain(health.error).message}</p> : null}
      {health.isPending ? <p className="muted" role="status">Looking at the code…</p> : null}
      {whole ? <Whole area={whole} /> : null}
      {parts.length > 0 ? (
        <div className="wide">
          <table className="table">
            <caption className="meta">Each folder in it</caption>
            <thead><tr><th scope="col">Folder</th><th scope="col">Maturity</th><th scope="col">One way</th><th scope="col">Coverage</th><th scope="col">Tests</th><th scope="col">Debt</th><th scope="col">Lines</th></tr></thead>
            <tbody>{parts.map((area) => (
              <tr key={area.area}>
                <td><button type="button" className="button small mono" onClick={() => setPath(area.area)}>{area.area}</button></td>
                <td>{WORDS[area.maturity]}</td><td>{percent(area.pattern_confidence)}</td><td>{area.test_coverage ?? 'no report'}</td><td>{area.tests}</td><td>{area.debt_count}</td><td>{area.lines.toLocaleString('en')}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      ) : null}
    </section>
  );
}

function Whole({ area }: { area: Area }) {
  return (
    <article className="judgement" aria-label={`Health of ${area.area}`}>
      <p className="row wrap"><strong className="mono">{area.area}</strong><span className="pill">{WORDS[area.maturity]}</span></p>
      <p>{area.recommendation}{area.warning ? ` ${area.warning}` : ''}</p>
      <p className="meta">{percent(area.pattern_confidence)} follows one way · {area.test_coverage ? `${area.test_coverage} covered (${area.coverage_report ?? ''})` : 'no coverage report'} · {area.tests} tests for {area.functions} functions · {percent(area.documented)} documented · {area.lines.toLocaleString('en')} lines in {area.files} files</p>
      {area.debt_count > 0 ? (
        <details>
          <summary>{area.debt_count === 1 ? '1 marker of debt' : `${area.debt_count} markers of debt`}</summary>
          <ul>{area.debt.map((debt) => <li key={`${debt.path}:${debt.line}`}><span className="meta mono">{debt.path}:{debt.line}</span> {debt.text}</li>)}</ul>
        </details>
      ) : null}
    </article>
  );
}
