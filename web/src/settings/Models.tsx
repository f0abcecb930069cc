/** Models and keys. A key goes to the vault and never comes back to the page. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client';
import { useModels, useVersion } from '../api/queries';
import type { Provider } from '../api/types';
import { counted, tokens } from '../session/words';
import { toast } from '../shell/toast';
import { Page, Section, Settings } from './parts';

const KEYS = { environment: 'Key from the environment', vault: 'Key kept on this machine', keychain: 'Key in the desktop’s keychain', not_needed: 'A server of your own; needs no key', missing: 'No key' };

export function Models() {
  const models = useModels();
  const offline = useVersion().data?.offline;
  return (
    <>
      {offline ? (
        <Section title="No model is set up yet" says="Weft works on its small offline model. There are three ways to one that thinks:">
          <ol className="ways">
            <li>Add a key to a provider below. It is kept encrypted on this machine.</li>
            <li>Start Weft with a key in its environment, such as <code>ANTHROPIC_API_KEY</code> or <code>OPENAI_API_KEY</code>.</li>
            <li>Use a server of your own: set <code>model</code> below to <code>ollama/qwen3-coder</code>, for instance.</li>
          </ol>
        </Section>
      ) : null}
      <Page query={models}>
        {(data) => (
          <>
            <Section title="Default model" says={<>New sessions use <code>{data.default}</code> unless they say otherwise.</>}><Settings prefixes={['model']} /></Section>
            <Section title="Providers">{data.providers.map((provider) => <OneProvider key={provider.name} provider={provider} />)}</Section>
            <Section title="Budget" says="Nothing is sent to a model that would cost more than this."><Settings prefixes={['budget']} /></Section>
          </>
        )}
      </Page>
    </>
  );
}

function OneProvider({ provider }: { provider: Provider }) {
  const isKept = provider.key === 'vault' || provider.key === 'keychain';
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const fresh = () => {
    void client.invalidateQueries({ queryKey: ['models'] });
    void client.invalidateQueries({ queryKey: ['version'] });
  };
  const put = useMutation({ mutationFn: (key: string) => api.put<{ works: boolean; message: string | null }>(`models/${encodeURIComponent(provider.name)}/key`, { key }), onSuccess: ({ works, message }) => { setAdding(false); toast.say(works ? 'The key works, and is kept on this machine.' : `The key is kept on this machine, but could not be tried: ${message ?? ''}`); fresh(); }, onError: toast.problem });
  const drop = useMutation({ mutationFn: () => api.remove(`models/${encodeURIComponent(provider.name)}/key`), onSuccess: () => { toast.say('The key is gone.'); fresh(); }, onError: toast.problem });
  const test = useMutation({ mutationFn: () => api.post<{ ok: boolean; message: string; millis: number }>('models/test', { provider: provider.name }), onError: toast.problem });
  return (
    <div className="provider">
      <div className="row wrap">
        <span className="grow"><strong>{provider.name}</strong> <span className={provider.key === 'environment' || isKept ? 'meta good' : 'meta'}>{KEYS[provider.key]}</span></span>
        {provider.key === 'missing' || isKept ? <button type="button" className="button small" onClick={() => setAdding(!adding)}>{isKept ? 'Replace key' : 'Add key'}</button> : null}
        {isKept ? <button type="button" className="button small danger" onClick={() => drop.mutate()}>Remove key</button> : null}
        <button type="button" className="button small" disabled={test.isPending} onClick={() => test.mutate()}>{test.isPending ? 'Testing…' : 'Test'}</button>
      </div>
      {test.data ? <p className={test.data.ok ? 'good' : 'bad'} role="status">{test.data.message}{test.data.ok ? ` (${test.data.millis} ms)` : ''}</p> : null}
      {adding ? (
        <form className="row wrap" onSubmit={(event) => {
          event.preventDefault();
          const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
          if (key) put.mutate(key);
        }}>
          <input className="field grow" name="key" type="password" autoComplete="off" aria-label={`Key for ${provider.name}`} placeholder={provider.key_env[0] ?? 'Key'} autoFocus />
          <button type="submit" className="button primary small" disabled={put.isPending}>Keep key</button>
        </form>
      ) : null}
      {provider.models.length > 0 ? <details>
        <summary className="meta">{counted(provider.models.length, 'model')}</summary>
        <table className="table">
          <thead><tr><th>Model</th><th>Window</th><th>US$ per million, in / out</th></tr></thead>
          <tbody>{provider.models.map((model) => <tr key={model.model}><td><code>{model.model}</code></td><td>{model.window ? tokens(model.window) : ''}</td><td>{model.price ? `${model.price.input} / ${model.price.output}` : 'not known'}</td></tr>)}</tbody>
        </table>
      </details> : null}
    </div>
  );
}
