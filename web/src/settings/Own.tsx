/** Agents and skills: which there are, each as its file has it, and the person's own as files that are written here. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { api, explain, isChanged } from '../api/client';
import { Sentence } from '../markdown/inline';
import { askYes } from '../shell/prompt';
import { toast } from '../shell/toast';
import { useKept } from '../shell/useKept';
import { Page, Section } from './parts';

type Kind = 'agents' | 'skills';
interface Thing {
  name: string;
  description: string;
  called?: string;
  place?: string;
  of_project: boolean;
  yours: boolean;
}
interface Found {
  agents?: Thing[];
  skills?: Thing[];
  problems: { file: string; what: string }[];
}

const WORDS: Record<Kind, { one: string; title: string; says: string; names: string; nameHint: string; begin: string }> = {
  agents: {
    one: 'agent', title: 'Agents', names: '[A-Za-z0-9_\\-]+', nameHint: 'Letters, digits, - and _',
    says: 'An agent is a prompt, a model, tools and limits. Mention one with @. Yours are kept in your settings folder; a project brings its own in .weft/agents.',
    begin: '---\ndescription: What it is for, for people and other agents\n# model: anthropic/claude-sonnet-4-5\n# mode: safe\n# tools: read, search\n---\nSay here who it is and how it works.\n',
  },
  skills: {
    one: 'skill', title: 'Skills', names: '[a-z0-9\\-]+', nameHint: 'Small letters, digits and -',
    says: 'A skill is instructions that are loaded when they are needed. Call one with /. Yours are kept in your settings folder; a project brings its own in .weft/skills.',
    begin: '---\ndescription: When to use it\n---\nSay here what to do, step by step.\n',
  },
};
/** What is typed: the file that it is for, which has no name yet when it is new, and the version it was made from. */
interface Draft {
  file: string;
  called: string;
  text: string;
  version?: string;
}
const from = (thing: Thing) => (thing.of_project ? 'the project' : thing.yours ? 'you' : thing.place ? 'another program' : 'built in');

export function Own({ what }: { what: Kind }) {
  const words = WORDS[what];
  const things = useQuery({ queryKey: [what], queryFn: () => api.get<Found>(what) });
  const [draft, setDraft] = useKept<Draft>(`draft.${what}`);
  /** The one that is open; an empty name is a new one. */
  const [open, setOpen] = useState<string | null>(draft?.file ?? null);
  const close = () => {
    setDraft(null);
    setOpen(null);
  };
  /** One of others that is read here. */
  const [shown, setShown] = useState<string | null>(null);
  return (
    <>
      <Section title={words.title} says={words.says}>
        <Page query={things}>
          {(data) => {
            const list = data[what] ?? [];
            return (
              <>
                {list.length === 0 ? <p className="muted">None yet.</p> : (
                  <div className="table-scroll" tabIndex={0} role="group" aria-label={words.title}>
                    <table className="table"><thead><tr><th>Name</th><th>What for</th><th>From</th><th aria-label="Change" /></tr></thead>
                      <tbody>{list.map((thing) => (
                        <tr key={thing.name}>
                          <td><code>{thing.called || thing.name}</code></td><td>{thing.description}</td><td>{from(thing)}</td>
                          <td>{thing.yours
                            ? <button type="button" className="button small" aria-label={`Edit ${thing.name}`} disabled={open !== null} onClick={() => setOpen(thing.name)}>Edit</button>
                            : <button type="button" className="button small" aria-label={`Show ${thing.name}`} aria-expanded={shown === thing.name} onClick={() => setShown(shown === thing.name ? null : thing.name)}>Show</button>}</td>
                        </tr>
                      ))}</tbody>
                    </table>
                  </div>
                )}
                {data.problems.map((problem) => <p key={problem.file} className="bad"><code>{problem.file}</code>: <Sentence text={problem.what} /></p>)}
                {open === null ? <div className="row"><button type="button" className="button" onClick={() => setOpen('')}><Plus /> New {words.one}</button></div> : null}
              </>
            );
          }}
        </Page>
      </Section>
      {shown === null ? null : <Reader key={shown} what={what} name={shown} onClose={() => setShown(null)} />}
      {open === null ? null : <Editor key={open} what={what} name={open} draft={draft} onDraft={setDraft} onClose={close} />}
    </>
  );
}

/** What others wrote, to be read before it is used. */
function Reader({ what, name, onClose }: { what: Kind; name: string; onClose: () => void }) {
  const file = useQuery({ queryKey: [what, name, 'text'], queryFn: () => api.get<{ text: string; file: string }>(`${what}/${encodeURIComponent(name)}`) });
  const place = useRef<HTMLDivElement>(null);
  const isThere = file.data !== undefined;
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'nearest' });
  }, [isThere]);
  return (
    <div ref={place}>
      <Section title={name} says={!file.data ? undefined : file.data.file ? <>It lies in <code>{file.data.file}</code> and is changed there.</> : 'It is built in.'}>
        <Page query={file}>{(data) => <pre className="output tall" tabIndex={0} aria-label={`What ${name} says`}>{data.text}</pre>}</Page>
        <div className="row"><button type="button" className="button" onClick={onClose}>Close</button></div>
      </Section>
    </div>
  );
}

function Editor({ what, name, draft, onDraft, onClose }: { what: Kind; name: string; draft: Draft | null; onDraft: (draft: Draft | null) => void; onClose: () => void }) {
  const words = WORDS[what];
  const client = useQueryClient();
  const path = (of: string) => `${what}/${encodeURIComponent(of)}`;
  const file = useQuery({ queryKey: [what, name, 'text'], queryFn: () => api.get<{ text: string; file: string; version: string }>(path(name)), enabled: name !== '', gcTime: 0 });
  const now = name ? file.data : { text: words.begin, file: '', version: undefined };
  const fresh = () => {
    void client.invalidateQueries({ queryKey: [what] });
    void client.invalidateQueries({ queryKey: ['commands'] });
    onClose();
  };
  const keep = useMutation({
    mutationFn: ({ called, text, version }: Draft) => api.put(path(called), { text, new: name === '', version }),
    onSuccess: (_, { called }) => { toast.say(`The ${words.one} \`${called}\` is saved.`); fresh(); },
    // Said beside what is wrong; whoever was quicker is looked up at once.
    onError: (error) => void (isChanged(error) && file.refetch()),
  });
  const remove = useMutation({
    mutationFn: (version: string | undefined) => api.remove<{ place: string }>(path(name), version),
    onSuccess: ({ place }) => { toast.say(`It was put away, to \`${place}\`.`); fresh(); },
    onError: (error) => {
      toast.problem(error);
      if (isChanged(error)) void file.refetch();
    },
  });
  const sure = async (version: string | undefined) => {
    if (await askYes({ title: `Remove ${name}?`, hint: `It is put away with all its files; sessions no longer have it.`, verb: 'Remove' })) remove.mutate(version);
  };
  if (!now) return <Section title={`Edit ${name}`}><Page query={file}>{() => null}</Page></Section>;
  const shown: Draft = draft ?? { file: name, called: name, text: now.text, version: now.version };
  const type = (change: Partial<Draft>) => {
    if (keep.isError) keep.reset();
    onDraft({ ...shown, ...change });
  };
  const apart = draft !== null && name !== '' && draft.version !== now.version;
  const trouble = keep.isError && !apart ? explain(keep.error) : null;
  return (
    <Section title={name ? `Edit ${name}` : `New ${words.one}`} says={name ? <>Kept in <code>{now.file}</code>.</> : undefined}>
      <form className="stack wide" onSubmit={(event) => {
        event.preventDefault();
        keep.mutate({ ...shown, called: shown.called.trim() });
      }}>
        {name ? null : <label>Name<input className="field" value={shown.called} onChange={(event) => type({ called: event.target.value })} required maxLength={64} pattern={words.names} title={words.nameHint} placeholder={words.nameHint} autoFocus /></label>}
        <label>What the file says<textarea className="field mono" rows={14} spellCheck={false} required value={shown.text} onChange={(event) => type({ text: event.target.value })} /></label>
        {trouble ? <p className="bad" role="alert"><Sentence text={[trouble.message, trouble.advice].filter(Boolean).join(' ')} /></p> : null}
        {apart ? (
          <p className="bad" role="alert">The file was changed in another window or on disk after you began. What you typed is still here and is not saved. <button type="button" className="link" onClick={() => { keep.reset(); onDraft(null); }}>Show what the file says now</button> or <button type="button" className="link" onClick={() => keep.mutate({ ...shown, version: now.version })}>put yours in its place</button>.</p>
        ) : null}
        <div className="row wrap">
          <button type="submit" className="button primary" disabled={keep.isPending || apart}>{keep.isPending ? 'Saving…' : 'Save'}</button>
          <button type="button" className="button" onClick={onClose}>Cancel</button>
          {name ? <button type="button" className="button danger" disabled={remove.isPending} onClick={() => void sure(now.version)}>Remove…</button> : null}
        </div>
      </form>
    </Section>
  );
}
