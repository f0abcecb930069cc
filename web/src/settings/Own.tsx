/** Agents and skills: which there are, and the person's own as files that are written here. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { api, explain, isChanged } from '../api/client';
import { Sentence } from '../markdown/inline';
import { askYes } from '../shell/prompt';
import { toast } from '../shell/toast';
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
const from = (thing: Thing) => (thing.of_project ? 'the project' : thing.yours ? 'you' : thing.place ? 'another program' : 'built in');

export function Own({ what }: { what: Kind }) {
  const words = WORDS[what];
  const things = useQuery({ queryKey: [what], queryFn: () => api.get<Found>(what) });
  /** The one that is open; an empty name is a new one. */
  const [open, setOpen] = useState<string | null>(null);
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
                          <td>{thing.yours ? <button type="button" className="button small" aria-label={`Edit ${thing.name}`} onClick={() => setOpen(thing.name)}>Edit</button> : null}</td>
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
      {open === null ? null : <Editor key={open} what={what} name={open} onClose={() => setOpen(null)} />}
    </>
  );
}

function Editor({ what, name, onClose }: { what: Kind; name: string; onClose: () => void }) {
  const words = WORDS[what];
  const client = useQueryClient();
  const path = (of: string) => `${what}/${encodeURIComponent(of)}`;
  const text = useQuery({ queryKey: [what, name, 'text'], queryFn: () => api.get<{ text: string; file: string; version: string }>(path(name)), enabled: name !== '', staleTime: Infinity, gcTime: 0 });
  const fresh = () => {
    void client.invalidateQueries({ queryKey: [what] });
    void client.invalidateQueries({ queryKey: ['commands'] });
    onClose();
  };
  const keep = useMutation({
    mutationFn: ({ called, written }: { called: string; written: string }) => api.put(path(called), { text: written, new: name === '', version: text.data?.version }),
    onSuccess: (_, { called }) => { toast.say(`The ${words.one} \`${called}\` is saved.`); fresh(); },
    // Said beside what is wrong.
    onError: () => undefined,
  });
  const remove = useMutation({
    mutationFn: () => api.remove<{ place: string }>(path(name)),
    onSuccess: ({ place }) => { toast.say(`It was put away, to \`${place}\`.`); fresh(); },
    onError: toast.problem,
  });
  const sure = async () => {
    if (await askYes({ title: `Remove ${name}?`, hint: `It is put away with all its files; sessions no longer have it.`, verb: 'Remove' })) remove.mutate();
  };
  const trouble = keep.isError ? explain(keep.error) : null;
  return (
    <Section title={name ? `Edit ${name}` : `New ${words.one}`} says={name && text.data ? <>Kept in <code>{text.data.file}</code>.</> : undefined}>
      {name && !text.data ? <Page query={text}>{() => null}</Page> : (
        <form className="stack wide" key={text.data?.version} onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          keep.mutate({ called: name || String(form.get('name') ?? '').trim(), written: String(form.get('text') ?? '') });
        }}>
          {name ? null : <label>Name<input className="field" name="name" required maxLength={64} pattern={words.names} title={words.nameHint} placeholder={words.nameHint} autoFocus /></label>}
          <label>What the file says<textarea className="field mono" name="text" rows={14} spellCheck={false} required defaultValue={name ? text.data?.text : words.begin} onChange={() => keep.isError && keep.reset()} /></label>
          {trouble ? <p className="bad" role="alert"><Sentence text={[trouble.message, trouble.advice].filter(Boolean).join(' ')} /></p> : null}
          <div className="row wrap">
            <button type="submit" className="button primary" disabled={keep.isPending}>{keep.isPending ? 'Saving…' : 'Save'}</button>
            <button type="button" className="button" onClick={onClose}>Cancel</button>
            {isChanged(keep.error) ? <button type="button" className="button" onClick={() => { keep.reset(); void text.refetch(); }}>Show what the file says now</button> : null}
            {name ? <button type="button" className="button danger" disabled={remove.isPending} onClick={() => void sure()}>Remove…</button> : null}
          </div>
        </form>
      )}
    </Section>
  );
}
