/** Beside the conversation: how a run went, how its answer was checked, what it searched for, and what it cites. */
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useRef } from 'react';
import { address } from '../api/client';
import { citedBy, corpusOf, paragraphsOf, queriesOf, sourceKey, verificationOf, type Paragraph, type RunView } from '../session/flow';
import type { Call, View } from '../session/fold';
import type { SessionStore } from '../session/store';
import { counted, dollars, duration } from '../session/words';
import { PaperCard } from './PaperCard';
import { StageIcon, StageSpent } from './RunRows';
import { substepsOf } from './substeps';

const AXES: Record<string, string> = { entity: 'Names and numbers', citation: 'Citations', relation: 'Duties and relations', contradictions: 'Contradictions', contradiction: 'Contradiction' };
const FORMATS = { md: 'Markdown', html: 'HTML', docx: 'Word', pdf: 'PDF' };
const ENDS: Record<string, string> = { completed: 'Done', breakout: 'Left early', budget_exceeded: 'Stopped at its budget' };

export function RunPanel({ view, store, onJump }: { view: View; store: SessionStore; onJump: (seq: number) => void }) {
  const run = view.runs.at(-1);
  // A long run may have begun before the events that the page has.
  useEffect(() => {
    if (!run && view.from > 1) void store.older();
  }, [run, view.from, store]);
  if (!run) return <p className="pad muted">{view.from > 1 ? 'Loading the run…' : 'No flow has run in this session.'}</p>;
  return (
    <div className="scroll pad">
      {[...view.runs].reverse().map((one) => <OneRun key={one.number} run={one} open={one === run} view={view} onJump={onJump} />)}
    </div>
  );
}

function OneRun({ run, open, view, onJump }: { run: RunView; open: boolean; view: View; onJump: (seq: number) => void }) {
  const { id } = useParams({ strict: false });
  const substeps = useMemo(() => substepsOf(view.turns, run.number), [view.turns, run.number]);
  const verified = verificationOf(run);
  const queries = queriesOf(run);
  const cost = run.stages.reduce((sum, stage) => sum + stage.cost, 0);
  const millis = run.stages.reduce((sum, stage) => sum + stage.millis, 0);
  const failed = verified?.checks.filter((check) => check.verdict === 'fails') ?? [];
  return (
    <details className="run" open={open}>
      <summary><span className="grow cut">{run.question}</span><span className="meta">{[run.end ? (ENDS[run.end.reason] ?? run.end.reason) : run.stopped ? 'Stopped' : run.paused ? 'Waits for you' : 'Running', millis > 0 ? duration(millis) : null, cost > 0 ? dollars(cost / 1e9) : null].filter(Boolean).join(' · ')}</span></summary>
      {run.prior ? <p className="meta">Follows <Link to="/s/$id" params={{ id: run.prior.session }}>{run.prior.question}</Link></p> : null}
      <ol className="stages" aria-label="Stages">
        {run.stages.map((stage) => (
          <li key={stage.id}>
            <button type="button" onClick={() => onJump(stage.seq)}>
              <StageIcon state={stage.state} />
              <span className="grow"><span className="row"><span className="grow cut">{stage.title}</span>{stage.iteration > 0 ? <span className="pill">mended {stage.iteration === 1 ? 'once' : counted(stage.iteration, 'time')}</span> : null}<StageSpent stage={stage} /></span>{stage.summary ? <span className="meta">{stage.summary}</span> : null}</span>
            </button>
            {stage.state === 'running' ? <Substeps calls={substeps.get(stage.id) ?? []} thinking={view.phase === 'calling'} /> : null}
          </li>
        ))}
      </ol>
      {open && id && run.end?.reason === 'completed' ? <p className="row wrap"><span className="meta">Save as</span>{(['md', 'html', 'docx', 'pdf'] as const).map((format) => <a key={format} className="button small" href={address(`sessions/${id}/research/document`, { format })} download>{FORMATS[format]}</a>)}</p> : null}
      {open && id && run.end?.reason === 'completed' ? <PaperCard session={id} /> : null}
      {verified ? (
        <>
          <h3 className="top">Verification</h3>
          <table className="table">
            <tbody>{verified.scores.map(([name, score]) => <tr key={name}><td>{AXES[name] ?? name}</td><td className="end">{name === 'contradictions' ? score : `${Math.round(score * 100)} %`}</td></tr>)}</tbody>
          </table>
          <p className="meta">{counted(verified.checks.length, 'check')}; {failed.length > 0 ? `${failed.length} did not hold, so what they are about is not shown or was mended` : 'all hold'}.</p>
          {verified.statements.length > 0 ? (
            <div className="table-scroll" tabIndex={0} role="group" aria-label="Each statement">
              <table className="table top">
                <thead><tr><th>Statement</th><th>Verdict</th></tr></thead>
                <tbody>{verified.statements.map(({ claim, fails }, index) => <tr key={index}><td>{claim}</td><td>{fails.length === 0 ? 'Holds' : fails.map((check, at) => <p key={at}>{AXES[check.axis] ?? check.axis}: {check.why}</p>)}</td></tr>)}</tbody>
              </table>
            </div>
          ) : null}
        </>
      ) : null}
      {queries.length > 0 ? (
        <>
          <h3 className="top">What was looked for</h3>
          <ol className="queries">{queries.map((query, index) => <li key={index}>{query.query} <span className="meta">{[query.role, ...query.targets].filter(Boolean).join(' · ')}</span></li>)}</ol>
        </>
      ) : null}
    </details>
  );
}

/** More than a handful of searches at once are counted. */
const MOST_SHOWN = 5;

/** What the stage under way does now: its searches and checks as they come, and that the model writes. */
function Substeps({ calls, thinking }: { calls: readonly Call[]; thinking: boolean }) {
  const before = Math.max(0, calls.length - MOST_SHOWN);
  return (
    <ul className="substeps" aria-label="What it does">
      {before > 0 ? <li className="meta">{counted(before, 'step')} before</li> : null}
      {calls.slice(before).map((call) => (
        <li key={call.key} className={call.state === 'failed' ? 'meta bad' : 'meta'}>
          <span className="grow cut">{call.summary || call.tool}</span>
          <span className="number">{call.state === 'planned' || call.state === 'running' ? 'running' : call.state === 'ok' ? duration(call.millis) : call.state}</span>
        </li>
      ))}
      {thinking ? <li className="meta">The model writes…</li> : null}
    </ul>
  );
}

type Source = Paragraph & { key: string; corpus: string };

/** The paragraphs that answers cite, one of them marked; folded away what was only found. */
export function SourcesPanel({ view, wanted }: { view: View; wanted: string | undefined }) {
  const place = useRef<HTMLLIElement>(null);
  const [cited, found] = useMemo(() => sourcesOf(view.runs), [view.runs]);
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'center' });
    place.current?.focus();
  }, [wanted]);
  if (cited.length + found.length === 0) return <p className="pad muted">Nothing is cited yet. The paragraphs that an answer stands on are shown here.</p>;
  const rows = (all: Source[]) => (
    <ul className="sources">
      {all.map((one) => (
        <li key={one.key} ref={one.key === wanted ? place : undefined} tabIndex={-1} className={one.key === wanted ? 'wanted' : ''} aria-current={one.key === wanted ? true : undefined}>
          <p className="row"><strong>{one.cite}</strong>{one.tier === 'guide' ? <span className="pill">guide</span> : null}<span className="grow" /><Place paragraph={one} /></p>
          <p className="meta">{one.section}</p>
          <p className="source-text">{one.text}</p>
        </li>
      ))}
    </ul>
  );
  return (
    <div className="scroll pad">
      {cited.length > 0 ? rows(cited) : <p className="muted">No paragraph is cited.</p>}
      {found.length > 0 ? <details className="top" open={cited.length === 0 || found.some((one) => one.key === wanted)}><summary className="meta">Found and not cited ({found.length})</summary>{rows(found)}</details> : null}
    </div>
  );
}

/** The newest of each, those that are cited apart from the rest. */
function sourcesOf(runs: readonly RunView[]): [Source[], Source[]] {
  const all = new Map<string, [Source, boolean]>();
  for (const run of runs) {
    const cites = citedBy(run);
    for (const one of paragraphsOf(run)) {
      const key = sourceKey(run, one.id);
      all.set(key, [{ ...one, key, corpus: corpusOf(run) }, cites.has(one.id) || all.get(key)?.[1] === true]);
    }
  }
  const of = (wanted: boolean) => [...all.values()].filter(([, isCited]) => isCited === wanted).map(([one]) => one);
  return [of(true), of(false)];
}

/** Where a paragraph stands. A page of a PDF can be opened there. */
function Place({ paragraph: { id, source, page, corpus } }: { paragraph: Source }) {
  if (!page) return <span className="meta cut">{source}</span>;
  const href = `${address('corpora/document', { corpus: corpus || undefined, id })}#page=${page}`;
  return <a className="meta cut" href={href} target="_blank" rel="noreferrer" title={`Open ${source} at page ${page}`}>{source}, page {page}</a>;
}
