/** An answer, checked sentence by sentence against the paragraphs that it cites. */
import { useState } from 'react';
import { useVerify, type Check, type Verified } from './judgement';

export function Verify({ workspace }: { workspace: string }) {
  const [text, setText] = useState('');
  const verify = useVerify(workspace);
  return (
    <section className="scroll judged" aria-label="Check an answer">
      <form onSubmit={(event) => { event.preventDefault(); if (text.trim()) verify.mutate(text); }}>
        <label htmlFor="answer">An answer with citations, such as [4.1] or [contract.md#4.1]</label>
        <textarea id="answer" className="field" rows={6} value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit" className="button primary" disabled={!text.trim() || verify.isPending}>{verify.isPending ? 'Checking…' : 'Check it'}</button>
      </form>
      {verify.data ? <Outcome verified={verify.data} /> : null}
    </section>
  );
}

export function scored({ claims, checks, citation, entity, relation, contradictions }: Verified): string {
  if (claims.length === 0) return 'No sentence cites anything, so there is nothing to check.';
  const held = checks.filter((check) => check.holds).length;
  const share = (value: number) => `${Math.round(value * 100)}%`;
  return `${held} of ${checks.length} checks hold. Citations ${share(citation)}, names and numbers ${share(entity)}, relations ${share(relation)}, contradictions ${contradictions}.`;
}

function Outcome({ verified }: { verified: Verified }) {
  return (
    <div aria-live="polite">
      <p><strong>{scored(verified)}</strong></p>
      <ol>
        {verified.claims.map((claim, index) => {
          const checks = verified.checks.filter((check) => check.claim === index);
          const wrong = checks.filter((check) => !check.holds);
          return (
            <li key={index}>
              <article className="judgement">
                <p>{claim.text}</p>
                <p className={wrong.length > 0 ? 'bad' : 'good'}>{wrong.length > 0 ? `${wrong.length} of ${checks.length} checks fail` : checks.length > 0 ? 'Borne out' : 'Nothing in it could be checked'}</p>
                <ul>{[...wrong, ...checks.filter((check) => check.holds)].map((check, at) => <li key={at}><OneCheck check={check} /></li>)}</ul>
              </article>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function OneCheck({ check }: { check: Check }) {
  return (
    <details open={!check.holds}>
      <summary><span className={check.holds ? 'good' : 'bad'}>{check.holds ? 'holds' : 'fails'}</span> {check.axis}: {check.item}</summary>
      <p>{check.why}</p>
      {check.evidence.map((evidence, index) => <blockquote key={index}><span className="meta mono">{evidence.source}</span><p>{evidence.text}</p></blockquote>)}
    </details>
  );
}
