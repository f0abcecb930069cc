/** Connections to outside tools and data: added by a form, tested, allowed where a project brought them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client';
import type { Source } from '../api/types';
import { toast } from '../shell/toast';
import { counted } from '../session/words';
import { Page, Section } from './parts';

const STATES = { on: 'On', off: 'Off', not_allowed: 'Not allowed yet' };

export function Sources() {
  const sources = useQuery({ queryKey: ['sources'], queryFn: () => api.get<{ sources: Source[]; warnings: string[] }>('sources') });
  return (
    <>
      <Page query={sources}>
        {(data) => (
          <Section title="Sources" says="Other people's programs. What they say is data; what comes with a project starts only after you allow it.">
            {data.warnings.map((warning) => <p key={warning} className="bad">{warning}</p>)}
            {data.sources.length === 0 ? <p className="muted">No sources yet.</p> : data.sources.map((source) => <OneSource key={source.name} source={source} />)}
          </Section>
        )}
      </Page>
      <AddSource />
    </>
  );
}

/** What a tool is called by its source. */
const plainName = (name: string) => name.replace(/^mcp__.+?__/, '');

function OneSource({ source }: { source: Source }) {
  const client = useQueryClient();
  const path = `sources/${encodeURIComponent(source.name)}`;
  const fresh = () => void client.invalidateQueries({ queryKey: ['sources'] });
  const test = useMutation({ mutationFn: () => api.post<{ ok: boolean; message: string; tools: { name: string; description: string }[] }>(`${path}/test`), onError: toast.problem });
  const signIn = useMutation({
    mutationFn: () => api.post<{ signed_in: boolean; address: string | null }>(`${path}/sign-in`),
    onSuccess: ({ signed_in, address }) => {
      if (signed_in) toast.say(`\`${source.name}\` can be used already.`);
      // A window that is opened late is kept back by browsers; then the address is there to be followed.
      else if (address) window.open(address, '_blank', 'noopener');
    },
    onError: toast.problem,
  });
  const allow = useMutation({ mutationFn: () => api.post(`${path}/allow`), onSuccess: fresh, onError: toast.problem });
  const remove = useMutation({ mutationFn: () => api.remove(path), onSuccess: fresh, onError: toast.problem });
  return (
    <div className="provider">
      <div className="row wrap">
        <span className="grow"><strong>{source.name}</strong> <span className="meta">{STATES[source.state]} · {source.from === 'yours' ? 'yours' : 'from the project'}</span><br /><code className="cut">{source.does}</code></span>
        {source.state === 'not_allowed' ? <button type="button" className="button small primary" onClick={() => allow.mutate()}>Allow</button> : null}
        <button type="button" className="button small" disabled={test.isPending} onClick={() => test.mutate()}>{test.isPending ? 'Testing…' : 'Test'}</button>
        {source.state === 'on' && source.kind === 'mcp (http)' ? <button type="button" className="button small" disabled={signIn.isPending} onClick={() => signIn.mutate()}>{signIn.isPending ? 'Asking…' : 'Sign in'}</button> : null}
        {source.from === 'yours' ? <button type="button" className="button small danger" onClick={() => remove.mutate()}>Remove</button> : null}
      </div>
      {signIn.data?.address ? <p role="status">Sign in at <a href={signIn.data.address} target="_blank" rel="noreferrer noopener">{new URL(signIn.data.address).host}</a>, then test the source.</p> : null}
      {test.data ? <p role="status" className={test.data.ok ? 'good' : 'bad'}>{test.data.message}{test.data.tools.length > 0 ? ` It has ${counted(test.data.tools.length, 'tool')}: ${test.data.tools.map((tool) => plainName(tool.name)).join(', ')}.` : ''}</p> : null}
    </div>
  );
}

/** A command line as its words; what stands in quotes is one. */
export const argumentsOf = (line: string): string[] =>
  [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''));

/** `NAME=value` or `Name: value`, one on each line. */
export const pairsOf = (text: string): Record<string, string> =>
  Object.fromEntries(text.split('\n').flatMap((line) => {
    const found = /^\s*([^\s:=]+)\s*[:=]\s*(.*?)\s*$/.exec(line);
    return found ? [[found[1] ?? '', found[2] ?? '']] : [];
  }));

function AddSource() {
  const client = useQueryClient();
  const [kind, setKind] = useState<'url' | 'api' | 'command'>('url');
  const add = useMutation({
    mutationFn: (body: unknown) => api.post('sources', body),
    onSuccess: () => { toast.say('Source added.'); void client.invalidateQueries({ queryKey: ['sources'] }); },
    onError: toast.problem,
  });
  return (
    <Section title="Add a source">
      <form className="stack" onSubmit={(event) => {
        event.preventDefault();
        const element = event.currentTarget;
        const form = new FormData(element);
        const where = String(form.get('where') ?? '').trim();
        const more = pairsOf(String(form.get('more') ?? ''));
        add.mutate({ name: String(form.get('name') ?? '').trim(), ...(kind === 'command' ? { command: argumentsOf(where), env: more } : { [kind]: where, headers: more }) }, { onSuccess: () => element.reset() });
      }}>
        <label>Name<input className="field" name="name" required pattern="[a-z0-9_\-]+" title="Small letters, digits, - and _" placeholder="docs" /></label>
        <label>Kind<select className="field" value={kind} onChange={(event) => setKind(event.target.value as 'url' | 'api' | 'command')}><option value="url">MCP server at an address</option><option value="api">HTTP API at an address</option><option value="command">MCP server that is a program</option></select></label>
        <label>{kind === 'command' ? 'Command' : 'Address'}<input className="field mono" name="where" required placeholder={{ url: 'https://docs.example/mcp', api: 'https://api.example/v1', command: 'npx -y some-server' }[kind]} /></label>
        <details>
          <summary className="meta">{kind === 'command' ? 'Variables that it gets' : 'Headers, such as a key'}</summary>
          <label>
            <span className="hidden-text">{kind === 'command' ? 'Variables' : 'Headers'}</span>
            <textarea className="field mono" name="more" rows={3} spellCheck={false} placeholder={kind === 'command' ? 'GITHUB_TOKEN=env:GITHUB_TOKEN' : 'Authorization: Bearer env:DOCS_TOKEN'} />
            <span className="meta">One on each line. A key is not written here: <code>env:NAME</code> takes it from Weft’s environment, <code>vault:NAME</code> from what <code>weft sources secret NAME</code> keeps.</span>
          </label>
        </details>
        <button type="submit" className="button primary" disabled={add.isPending}>Add source</button>
      </form>
    </Section>
  );
}
