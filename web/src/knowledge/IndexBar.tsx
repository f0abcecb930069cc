/** How the index stands, and what can be done with it: take in, make anew, watch, stop. */
import { useState } from 'react';
import { explain } from '../api/client';
import { Sentence } from '../markdown/inline';
import { useStatus, useWork, type KnowledgeStatus, type Work } from './knowledge';

const number = (value: number) => value.toLocaleString('en');

export function said(status: KnowledgeStatus): string {
  if (!status.known) return 'Nothing is known of this folder yet.';
  const files = `${number(status.files)} ${status.files === 1 ? 'file' : 'files'}`;
  const left = status.not_searched > 0 ? `, ${number(status.not_searched)} not searched` : '';
  return `${files}${left} · ${number(status.chunks)} pieces of text · ${status.up_to_date ? 'up to date' : 'being brought up to date'}`;
}

export function workSaid(work: Work): string {
  if (work.error) return work.error;
  if (work.running) {
    const what = work.kind === 'rebuild' ? 'Making the index anew' : work.kind === 'renew' ? 'Making vectors with the new model' : work.finishing ? 'Making it searchable' : 'Reading files';
    return work.of > 0 ? `${what}: ${number(work.done)} of ${number(work.of)}` : `${what}…`;
  }
  const report = work.report;
  if (!report) return work.kind === 'rebuild' ? 'The index is made anew.' : work.kind === 'renew' ? 'The new model is in use.' : '';
  if (report.stopped) return 'Stopped. What was taken in stays; the next run goes on with the rest.';
  const rate = report.seconds > 0 && report.bytes >= 100_000 ? `, ${(report.bytes / 1e6 / report.seconds).toFixed(1)} MB/s` : '';
  const taken = `${number(report.changed)} of ${number(report.files)} files taken in, ${report.seconds.toFixed(1)} s${rate}.`;
  return report.without_meaning ? `${taken} ${report.without_meaning}` : taken;
}

/** The files that are not searched, and why. */
function NotSearched({ report }: { report: NonNullable<Work['report']> }) {
  const count = report.passed_count + report.trouble.length;
  if (count === 0) return null;
  return (
    <details className="meta">
      <summary>{count === 1 ? '1 file is not searched' : `${number(count)} files are not searched`}</summary>
      <ul className="not-searched">
        {report.trouble.map((why) => <li key={why}>{why}</li>)}
        {report.passed.map(({ path, reason }) => <li key={path}><span className="mono">{path}</span>: {reason}</li>)}
        {report.passed_count > report.passed.length ? <li>and {number(report.passed_count - report.passed.length)} more</li> : null}
      </ul>
    </details>
  );
}

export function IndexBar({ workspace }: { workspace: string }) {
  const status = useStatus(workspace);
  const work = useWork(workspace);
  // What was just chosen shows at once, and what is so when the server has answered.
  const [chosen, setChosen] = useState<boolean | null>(null);
  if (status.isError) return <p className="index-bar" role="alert">{explain(status.error).message}</p>;
  if (!status.data) return <p className="index-bar muted" role="status">Looking at the index…</p>;
  const { data } = status;
  const running = data.work?.running ?? false;
  return (
    <section className="index-bar" aria-label="Index">
      <div className="row wrap">
        <span className="grow" title={data.root}>{said(data)}{data.work && !running && !data.work.error ? <span className="meta"> · {workSaid(data.work)}</span> : null}</span>
        {data.known ? (
          <label className="row"><input type="checkbox" checked={chosen ?? data.watch?.running ?? false} onChange={(event) => {
            setChosen(event.target.checked);
            work.mutate({ what: 'watch', on: event.target.checked }, { onSettled: () => setChosen(null) });
          }} />Watch for changes</label>
        ) : null}
        {running ? (
          <button type="button" className="button small" onClick={() => work.mutate({ what: 'stop' })}>Stop</button>
        ) : (
          <>
            <button type="button" className={data.known ? 'button small' : 'button small primary'} disabled={work.isPending} onClick={() => work.mutate({ what: 'index' })}>{data.known ? 'Take in changes' : 'Index this folder'}</button>
            {data.known ? <button type="button" className="button small" disabled={work.isPending} onClick={() => work.mutate({ what: 'rebuild' })}>Rebuild</button> : null}
          </>
        )}
      </div>
      {data.work && (running || data.work.error) ? (
        <div className="row">
          {running ? <progress aria-label="Progress" max={Math.max(1, data.work.of)} value={data.work.of > 0 ? data.work.done : undefined} /> : null}
          <span className={data.work.error ? 'bad' : 'meta'} role="status">{workSaid(data.work)}</span>
        </div>
      ) : null}
      {data.watch?.error ? <p className="bad" role="alert">Changes are not watched for any more: {data.watch.error}</p> : null}
      {data.work?.report ? <NotSearched report={data.work.report} /> : null}
      {data.notices.map((notice) => <p key={notice} className="meta"><Sentence text={notice} /></p>)}
    </section>
  );
}
