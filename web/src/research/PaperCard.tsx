/** The paper that a session's research is kept as: make it, make its next version, decide on what is in it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client';
import { Markdown } from '../markdown/Markdown';
import { counted } from '../session/words';
import { toast } from '../shell/toast';

interface Paper {
  paper: string;
  title: string;
  version: number;
  status: string;
  versions: { number: number; at: number; run: number; why: string }[];
  items: { id: string; title: string; decision: string | null; note: string | null }[];
  text?: string;
}

const DECISIONS = ['accepted', 'rejected', 'deferred'] as const;

/** The paper of a session; null where it has none. */
export const usePaper = (session: string) => useQuery({ queryKey: ['paper', session], queryFn: async () => (await api.get<{ paper: Paper | null }>(`sessions/${session}/research/paper`)).paper });

export function PaperCard({ session }: { session: string }) {
  const client = useQueryClient();
  const key = ['paper', session];
  const known = usePaper(session);
  const [shown, setShown] = useState<number | null>(null);
  // Asked again rather than taken from the answer: two of them can come in the other order.
  const changed = () => client.invalidateQueries({ queryKey: key });
  const [why, setWhy] = useState('');
  const [notes, setNotes] = useState<Record<string, string>>({});
  const madeNew = () => {
    setWhy('');
    // What was noted was about the items of the version before.
    setNotes({});
    return changed();
  };
  const make = useMutation({ mutationFn: () => api.post<Paper>(`sessions/${session}/research/paper`, { why: why.trim() }), onSuccess: madeNew, onError: toast.problem });
  const decide = useMutation({ mutationFn: ({ paper, ...body }: { paper: string; item: string; decision: string; note: string }) => api.post<Paper>(`papers/${paper}/decisions`, body), onSuccess: changed, onError: toast.problem });
  const paper = known.data;
  const busy = make.isPending || decide.isPending;
  const text = useQuery({ queryKey: ['paper-text', paper?.paper, shown], enabled: paper != null && shown !== null, queryFn: () => api.get<Paper>(`papers/${paper?.paper ?? ''}`, { version: shown ?? undefined }) });
  return (
    <section aria-label="Paper">
      <h3 className="top">Paper</h3>
      {paper ? (
        <>
          <p className="meta">{paper.title} · version {paper.version} · {paper.status === 'decided' ? 'all decided' : `${counted(paper.items.filter((item) => !item.decision).length, 'item')} to decide`}</p>
          <ul className="paper-items">
            {paper.items.map((item) => (
              <li key={item.id} className="row wrap">
                <span className="grow cut" title={item.title}><strong>{item.id}</strong> {item.title}</span>
                <input className="field" aria-label={`Note on ${item.id}`} placeholder="Why" maxLength={2000} value={notes[item.id] ?? item.note ?? ''} onChange={(event) => setNotes({ ...notes, [item.id]: event.target.value })} onBlur={(event) => item.decision && event.target.value !== (item.note ?? '') ? decide.mutate({ paper: paper.paper, item: item.id, decision: item.decision, note: event.target.value }) : undefined} />
                <select className="field" aria-label={`Decision on ${item.id}`} value={item.decision ?? ''} disabled={busy} onChange={(event) => decide.mutate({ paper: paper.paper, item: item.id, decision: event.target.value, note: notes[item.id] ?? item.note ?? '' })}>
                  <option value="" disabled>open</option>
                  {DECISIONS.map((word) => <option key={word} value={word}>{word}</option>)}
                </select>
              </li>
            ))}
          </ul>
          <p className="row wrap">
            {paper.versions.map((version) => <button key={version.number} type="button" className="button small" aria-pressed={shown === version.number} title={version.why || undefined} onClick={() => setShown(shown === version.number ? null : version.number)}>v{version.number}</button>)}
            <input className="field grow" aria-label="Why a new version" placeholder="Why a new version" maxLength={2000} value={why} onChange={(event) => setWhy(event.target.value)} />
            <button type="button" className="button small" disabled={busy} onClick={() => make.mutate()}>Make the next version</button>
          </p>
          {text.data?.text ? <div className="answer"><Markdown text={text.data.text.replace(/^<!--[^\n]*-->\n/, '')} /></div> : null}
        </>
      ) : (
        <p><button type="button" className="button small" disabled={busy || known.isPending} onClick={() => make.mutate()}>Keep it as a paper</button></p>
      )}
    </section>
  );
}
