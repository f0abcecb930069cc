/** What contradicts what: both sides where they stand, which of them counts, and a person's word on it. */
import { useState } from 'react';
import { explain } from '../api/client';
import { useConflicts, useFindConflicts, useSettle, type Conflict } from './judgement';

const KINDS = { temporal: 'Stated again later', mismatch: 'Not what the code says', semantic: 'Two sources differ' } as const;

export function Conflicts({ workspace }: { workspace: string }) {
  const [all, setAll] = useState(false);
  const conflicts = useConflicts(workspace, all);
  const find = useFindConflicts(workspace);
  const list = conflicts.data?.conflicts ?? [];
  return (
    <section className="scroll judged" aria-label="Conflicts">
      <div className="row wrap">
        <button type="button" className="button small" disabled={find.isPending} onClick={() => find.mutate()}>{find.isPending ? 'Comparing…' : 'Look for conflicts'}</button>
        <label className="row"><input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} />Settled ones too</label>
        <span className="meta" role="status">{find.data ? (find.data.found === 0 ? 'Nothing new was found.' : `${find.data.found} new.`) : ''}</span>
      </div>
      {conflicts.isError ? <p role="alert">{explain(conflicts.error).message}</p> : null}
      {conflicts.data && list.length === 0 ? <p className="muted">Nothing is known to contradict each other. Looking for conflicts compares all documents, and what sessions said with the code.</p> : null}
      <ul>{list.map((one) => <li key={one.id}><OneConflict conflict={one} workspace={workspace} /></li>)}</ul>
    </section>
  );
}

function OneConflict({ conflict, workspace }: { conflict: Conflict; workspace: string }) {
  const settle = useSettle(workspace);
  const [words, setWords] = useState('');
  return (
    <article className="judgement" aria-label={conflict.description}>
      <p className="row wrap"><span className="pill">{KINDS[conflict.kind]}</span><strong>{conflict.description}</strong></p>
      {[[conflict.one_at, conflict.one_text], [conflict.other_at, conflict.other_text]].filter(([at]) => at).map(([at, text]) => (
        <blockquote key={at}><span className="meta mono">{at}</span><p>{text}</p></blockquote>
      ))}
      {conflict.counts ? <p>{conflict.counts}</p> : null}
      {conflict.resolution ? <p className="good">Settled: {conflict.resolution}</p> : (
        <form className="row" onSubmit={(event) => { event.preventDefault(); if (words.trim()) settle.mutate({ id: conflict.id, resolution: words.trim() }); }}>
          <input className="field grow" aria-label="How it is settled" placeholder="Which side holds, and why" value={words} maxLength={2000} onChange={(event) => setWords(event.target.value)} />
          <button type="submit" className="button small" disabled={!words.trim() || settle.isPending}>Settle</button>
        </form>
      )}
    </article>
  );
}
