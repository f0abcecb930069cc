/** Where research begins: a question, what is asked, and how deep. The run itself is a session. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { api, ApiError } from '../api/client';
import { sendOnce, sessionChanged, useVersion } from '../api/queries';
import type { SessionRow } from '../api/types';
import { Box } from '../session/Composer';
import { ListButton } from '../shell/Shell';
import { toast } from '../shell/toast';
import { useKept } from '../shell/useKept';
import { useTitle } from '../shell/useTitle';

interface Corpora {
  usual: string;
  /** What is found: the same words, what is alike, or what means the same. */
  finds: 'words' | 'likeness' | 'meaning';
  corpora: { name: string; title: string; folders: { path: string; tier: string; cite: string }[] }[];
}

const DEPTHS = [
  ['quick', 'Quick: three searches, no web, no repairs'],
  ['standard', 'Standard: up to eight searches, two repairs'],
  ['deep', 'Deep: up to fifteen searches, three repairs'],
] as const;

const EXAMPLES = ['How long are employee files kept, and from when is the period counted?', 'Who approves access to Restricted information?', 'Within how many days must an expense be claimed?'];

export function ResearchPage() {
  useTitle('Research');
  const navigate = useNavigate();
  const version = useVersion().data;
  const known = useQuery({ queryKey: ['corpora'], queryFn: () => api.get<Corpora>('corpora') });
  const [kept, setKept] = useKept<string>('question');
  const question = kept ?? '';
  const setQuestion = (text: string) => setKept(text || null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [depth, setDepth] = useState('standard');
  const [yes, setYes] = useState(false);
  const [web, setWeb] = useState(true);
  const [busy, setBusy] = useState(false);
  const made = useRef<SessionRow | null>(null);
  const corpus = chosen ?? known.data?.usual ?? '';

  const start = async () => {
    if (busy || !question.trim()) return;
    setBusy(true);
    try {
      // Whoever is quicker than the list of corpora asks the usual one too; a second try must be the same question.
      const asked = corpus || (await known.refetch()).data?.usual;
      // Where it is refused, the next try uses the same session instead of leaving an empty one.
      const row = (made.current ??= await api.post<SessionRow>('sessions', {}));
      await sendOnce(`sessions/${row.id}/research`, { question: question.trim(), corpus: asked, depth, yes, ...(web ? {} : { web: false }) });
      setKept(null);
      sessionChanged(await api.get<SessionRow>(`sessions/${row.id}`));
      await navigate({ to: '/s/$id', params: { id: row.id }, search: { panel: 'run' } });
    } catch (error) {
      // What nothing was said in goes with the server that had it.
      if (error instanceof ApiError && error.status === 404) made.current = null;
      toast.problem(error);
      setBusy(false);
    }
  };
  return (
    <main className="main">
      <header className="header"><ListButton /><h1 className="grow">Research</h1></header>
      <div className="scroll start">
        <div className="start-inner">
          <p className="start-question">What do you want to know?</p>
          <Box text={question} setText={setQuestion} workspace={version?.workspace ?? ''} placeholder="Ask your documents" onFiles={() => toast.say('Add documents with `weft corpus add NAME PATH`.')} canSend={!busy && question.trim() !== ''} onSend={() => void start()} />
          {/* Not before its words are there: what comes later would push the rest away. */}
          <div className="research-choices" hidden={known.isPending}>
            <label>Corpus
              <select className="field" value={corpus} onChange={(event) => setChosen(event.target.value)}>
                {(known.data?.corpora ?? []).map((one) => <option key={one.name} value={one.name}>{one.title || one.name}</option>)}
              </select>
            </label>
            <label>Depth
              <select className="field" value={depth} onChange={(event) => setDepth(event.target.value)}>
                {DEPTHS.map(([name, words]) => <option key={name} value={name}>{words}</option>)}
              </select>
            </label>
            {depth === 'quick' ? null : <label className="check"><input type="checkbox" checked={!web} onChange={(event) => setWeb(!event.target.checked)} /> Leave the web out</label>}
            <label className="check"><input type="checkbox" checked={yes} onChange={(event) => setYes(event.target.checked)} /> Do not pause to ask me</label>
          </div>
          {busy ? <p className="meta late" role="status">Reading what is new in the documents. With many of them this takes a while, once.</p> : null}
          {known.isError ? <p className="meta">The corpora could not be listed. Load the page again.</p> : null}
          <section className="first" aria-label="About research" hidden={known.isPending || !version}>
            {version?.offline ? <p className="muted">Without a model the answer is put together from quotations. Each has its source, and nothing is rephrased.</p> : <p className="muted">It plans first and asks you before it spends much. Statements are checked against the paragraphs they cite; what does not hold is left out.</p>}
            {corpus === 'harbour' ? <div className="options">{EXAMPLES.map((example) => <button key={example} type="button" className="option" onClick={() => { setQuestion(example); document.querySelector<HTMLElement>('[data-composer]')?.focus(); }}>{example}</button>)}</div> : null}
            <p className="muted">Your own documents: <code>weft corpus add NAME PATH</code></p>
          </section>
          {known.data && known.data.finds !== 'meaning' ? <FindMeaning finds={known.data.finds} /> : null}
        </div>
      </div>
    </main>
  );
}

/** Offered until it is there: one click, and what is asked in other words than the documents' is found. */
function FindMeaning({ finds }: { finds: 'words' | 'likeness' }) {
  const client = useQueryClient();
  const setUp = useMutation({
    mutationFn: () => api.post('corpora/setup', {}),
    onSuccess: () => {
      toast.say('Installed. The documents are read with it before the next question.');
      return client.invalidateQueries({ queryKey: ['corpora'] });
    },
    onError: toast.problem,
  });
  return (
    <section className="find-meaning" aria-label="Finding what you mean">
      <p>{finds === 'words' ? 'For now only the same words are found.' : 'For now meaning is compared by the fast model.'} A small model on this machine also finds what you ask in other words than the documents use. It is fetched once (84 MB); your documents and questions go nowhere.</p>
      <button type="button" className="button small" disabled={setUp.isPending} onClick={() => setUp.mutate()}>{setUp.isPending ? 'Installing… this takes a minute' : 'Install it'}</button>
    </section>
  );
}
