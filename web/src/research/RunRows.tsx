/** What of a run stands in the conversation: its stages, what is asked at a pause, the document. */
import { Check, CircleDashed, CirclePause, Download, FileCheck2, LoaderCircle, SkipForward, TriangleAlert } from 'lucide-react';
import { useMemo, useState } from 'react';
import { CopyButton } from '../markdown/CodeBlock';
import { Markdown } from '../markdown/Markdown';
import { byName, paragraphsOf, sourceKey, verificationOf, withoutDetails, type RunView, type StageState, type StageView } from '../session/flow';
import { useDoing } from '../session/Rows';
import { counted, dollars, duration } from '../session/words';
import { useNow } from '../shell/useNow';
import { CitesContext, namesOf } from './cites';

const STATES: Record<StageState, string> = { waiting: 'Waiting', running: 'Running', done: 'Done', skipped: 'Left out', failed: 'Failed', stopped: 'Stopped' };

export function StageIcon({ state }: { state: StageState }) {
  const Icon = { waiting: CircleDashed, running: LoaderCircle, done: Check, skipped: SkipForward, failed: TriangleAlert, stopped: CirclePause }[state];
  return <span className={`stage-icon ${state}`} role="img" aria-label={STATES[state]} title={STATES[state]}><Icon /></span>;
}

/** Time and money, as far as there are any. */
export function StageSpent({ stage }: { stage: StageView }) {
  const now = useNow(1000);
  const millis = stage.millis + (stage.startedAt === null ? 0 : Math.max(0, now - stage.startedAt));
  return <span className="meta number">{[millis >= 100 ? duration(millis) : null, stage.cost > 0 ? dollars(stage.cost / 1e9) : null].filter(Boolean).join(' · ')}</span>;
}

export function StageRow({ run, id, title }: { run: RunView | undefined; id: string; title: string }) {
  const stage = run?.stages.find((one) => one.id === id);
  const place = run ? run.stages.findIndex((one) => one.id === id) : -1;
  return (
    <div className="stage-row">
      {stage ? <StageIcon state={stage.state} /> : null}
      <h3>{title}</h3>
      {stage && stage.iteration > 0 ? <span className="pill">mended {stage.iteration === 1 ? 'once' : counted(stage.iteration, 'time')}</span> : null}
      <span className="grow cut muted">{stage?.summary}</span>
      {stage ? <StageSpent stage={stage} /> : null}
      {run && place >= 0 ? <span className="meta number">{place + 1}/{run.stages.length}</span> : null}
    </div>
  );
}

export function PauseRow({ text }: { text: string }) {
  const { text: words, details } = useMemo(() => withoutDetails(text), [text]);
  return (
    <div className="answer pause">
      <Markdown text={words} />
      {details.map((one) => <details key={one.title} className="part"><summary className="meta">{one.title}</summary><Markdown text={one.text} /></details>)}
    </div>
  );
}

/** A file made of what is on the screen; nothing is asked of anybody. */
function save(name: string, type: string, text: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

export function DocumentRow({ run, text }: { run: RunView | undefined; text: string }) {
  const { source, research } = useDoing();
  const known = useMemo(() => byName(run ? paragraphsOf(run) : []), [run]);
  const cites = useMemo(() => ({ known, names: namesOf(known), open: (id: string) => source(run ? sourceKey(run, id) : id) }), [known, source, run]);
  const verified = run ? verificationOf(run) : null;
  const [shown, setShown] = useState(true);
  const failed = verified?.checks.filter((check) => check.verdict === 'fails').length ?? 0;
  return (
    <article className="document" aria-label={run?.question ?? 'Document'}>
      <header className="row wrap">
        <FileCheck2 />
        <strong className="grow cut">{run?.title ?? 'Document'}</strong>
        {verified ? <button type="button" className={failed > 0 ? 'button small danger' : 'button small'} onClick={research}>{failed > 0 ? `${counted(failed, 'check')} did not hold` : `${counted(verified.checks.length, 'check')} held`}</button> : null}
        <CopyButton text={text} label="Copy the document" />
        <button type="button" className="icon-button" title="Save as Markdown" aria-label="Save as Markdown" onClick={() => save(`research-${run?.number ?? 1}.md`, 'text/markdown', text)}><Download /></button>
        <button type="button" className="button small" aria-expanded={shown} onClick={() => setShown(!shown)}>{shown ? 'Fold' : 'Show'}</button>
      </header>
      {shown ? <CitesContext value={cites}><Markdown text={text} /></CitesContext> : null}
    </article>
  );
}
