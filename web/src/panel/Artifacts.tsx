/** What the session made: documents, pictures and other new files, each with its versions, to read and to keep. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeft, Download, FileCode, FileImage, FileSpreadsheet, FileText, File as FileIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { address, api } from '../api/client';
import type { Artifact, ArtifactVersion } from '../api/types';
import { Coloured } from '../markdown/CodeBlock';
import { languageOf } from '../markdown/highlight';
import { Markdown } from '../markdown/Markdown';
import { PaperArtifact } from '../research/PaperArtifact';
import { Counts } from '../session/Diff';
import { age, bytes, counted } from '../session/words';
import { useNow } from '../shell/useNow';
import { Loaded } from './Panel';

const ICONS = { document: FileText, image: FileImage, data: FileSpreadsheet, code: FileCode, other: FileIcon };
const SHOWN_IMAGES = /\.(png|jpe?g|gif|webp|svg)$/i;
/** Longer ones are for an editor. */
const MOST_SHOWN = 400_000;

export function Artifacts({ id, filesSeq, onJump }: { id: string; filesSeq: number; onJump: (seq: number) => void }) {
  const list = useQuery({
    queryKey: ['artifacts', id, filesSeq],
    queryFn: () => api.get<{ artifacts: Artifact[]; more: number }>(`sessions/${id}/artifacts`),
    placeholderData: (before) => before,
  });
  // In the address, so that a link leads to it and the way back to the list.
  const { file: chosen } = useSearch({ from: '/s/$id' });
  const navigate = useNavigate();
  const setChosen = (file: string | undefined) => void navigate({ to: '/s/$id', params: { id }, search: (old: Record<string, unknown>) => ({ ...old, panel: 'artifacts', file }) });
  const artifact = list.data?.artifacts.find((one) => one.path === chosen);
  if (artifact) return <OneArtifact id={id} artifact={artifact} onBack={() => setChosen(undefined)} onJump={onJump} />;
  return (
    <div className="scroll pad">
      <Loaded query={list}>
        <PaperArtifact session={id} alone={list.data?.artifacts.length === 0 ? <p className="muted">This session has made nothing yet. Documents, pictures and other files that it makes are kept here with all their versions, and the paper that its research is kept as.</p> : null} />
        <ul className="artifacts">
          {list.data?.artifacts.map((one) => <li key={one.path}><Entry artifact={one} onOpen={() => setChosen(one.path)} /></li>)}
        </ul>
        {list.data?.more ? <p className="meta top">{counted(list.data.more, 'more file')} changed; the log does not name them.</p> : null}
      </Loaded>
    </div>
  );
}

const stands = (artifact: Artifact) => artifact.versions.findLast((version) => !version.undone);

function Entry({ artifact, onOpen }: { artifact: Artifact; onOpen: () => void }) {
  const now = useNow(60_000);
  const Icon = ICONS[artifact.kind];
  const last = stands(artifact);
  const newest = artifact.versions.at(-1);
  const state = !last ? 'taken back' : last.change === 'deleted' ? 'deleted' : null;
  return (
    <button type="button" className="artifact" onClick={onOpen}>
      <Icon aria-hidden />
      <span className="grow cut"><span className={state ? 'muted struck' : ''}>{artifact.path}</span></span>
      <span className="meta">{[state, artifact.versions.length > 1 ? `${artifact.versions.length} versions` : null, newest ? age(newest.at, now) : null].filter(Boolean).join(' · ')}</span>
    </button>
  );
}

const versionName = (version: ArtifactVersion, index: number) =>
  `Version ${index + 1}, turn ${version.turn}${version.change === 'deleted' ? ', deleted' : ''}${version.undone ? ', taken back' : ''}`;

function OneArtifact({ id, artifact, onBack, onJump }: { id: string; artifact: Artifact; onBack: () => void; onJump: (seq: number) => void }) {
  const [picked, setPicked] = useState<number | null>(null);
  const fallback = artifact.versions.findLastIndex((version) => version.size !== null);
  const index = picked ?? (fallback < 0 ? artifact.versions.length - 1 : fallback);
  const version = artifact.versions[index];
  const place = address(`sessions/${id}/artifacts/content`, { path: artifact.path, turn: version?.turn });
  useEffect(() => setPicked(null), [artifact.path]);
  if (!version) return null;
  return (
    <div className="artifact-page">
      <div className="artifact-head">
        <button type="button" className="icon-button" aria-label="All artifacts" title="All artifacts" onClick={onBack}><ArrowLeft /></button>
        <code className="grow cut" title={artifact.path}>{artifact.path}</code>
        {version.size !== null ? <a className="button small" href={place} download={artifact.path.split('/').pop()}><Download aria-hidden /> Download</a> : null}
      </div>
      <div className="artifact-head">
        <select className="field grow" aria-label="Version" value={index} onChange={(event) => setPicked(Number(event.target.value))}>
          {artifact.versions.map((one, place) => <option key={one.seq} value={place}>{versionName(one, place)}</option>)}
        </select>
        <Counts added={version.added} removed={version.removed} />
        <span className="meta">{version.size !== null ? bytes(version.size) : ''}</span>
        <button type="button" className="button small" onClick={() => onJump(version.seq)}>Show the turn</button>
      </div>
      <div className="scroll pad"><Preview path={artifact.path} version={version} place={place} /></div>
    </div>
  );
}

function Preview({ path, version, place }: { path: string; version: ArtifactVersion; place: string }) {
  const image = SHOWN_IMAGES.test(path);
  const readable = !image && version.size !== null && version.size <= MOST_SHOWN;
  const text = useQuery({
    queryKey: ['artifact', place],
    enabled: readable,
    staleTime: Infinity,
    queryFn: async () => {
      const response = await fetch(place, { credentials: 'same-origin' });
      if (!response.ok) throw new Error('This version cannot be shown.');
      return response.headers.get('content-type')?.startsWith('text/') ? await response.text() : null;
    },
  });
  if (version.size === null) return <p className="muted">{version.change === 'deleted' ? 'It was deleted in this turn.' : 'This version is not kept any more.'}</p>;
  if (image) return <img className="artifact-image" src={place} alt={path} />;
  if (!readable) return <p className="muted">It is too long to be shown here. Download it to look at it.</p>;
  return (
    <Loaded query={text}>
      {text.data === null || text.data === undefined ? <p className="muted">It is not text, so it is not shown here. Download it to look at it.</p>
        : /\.(md|markdown)$/i.test(path) ? <div className="answer"><Markdown text={text.data} /></div>
          : <pre className="output tall whole-file" tabIndex={0} aria-label={path}><Coloured code={text.data} language={languageOf(path) ?? ''} /></pre>}
    </Loaded>
  );
}
