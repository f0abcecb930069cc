/** The person's own commands at fixed points of a turn, in their order. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { api, explain } from '../api/client';
import { askYes } from '../shell/prompt';
import { toast } from '../shell/toast';
import { Page, Section, useSettings, type Hook, type SettingsData } from './parts';

const MOMENTS: Record<Hook['on'], string> = {
  before_prompt: 'Before what you say reaches the model',
  after_prompt: 'After a turn',
  before_tool: 'Before a tool runs',
  after_tool: 'After a tool ran',
};
const NEW: Hook = { on: 'before_tool', command: '', timeout_seconds: 30, on_error: 'refuse' };

export function Hooks() {
  const settings = useSettings();
  return (
    <Section title="Hooks" says={<>Your own commands at fixed points of a turn. Each gets what happens as JSON on its standard input. Exit 0 lets it go on, and what it prints is added for the model; exit 2 refuses, with what it prints as the reason. They run on this machine without being asked for, outside the sandbox: add only what you know. Every change is in the audit log.</>}>
      <Page query={settings}>{(data) => <HookRows hooks={data.hooks ?? []} />}</Page>
    </Section>
  );
}

function HookRows({ hooks }: { hooks: readonly Hook[] }) {
  const client = useQueryClient();
  /** The place of the one that is open; one beyond the last is a new one. */
  const [open, setOpen] = useState<number | null>(null);
  const keep = useMutation({
    mutationFn: (next: Hook[]) => api.put<SettingsData>('settings/hooks', { hooks: next }),
    onSuccess: (data) => {
      client.setQueryData(['settings'], data);
      setOpen(null);
      toast.say('The hooks hold from now on.');
    },
    // Said beside what is wrong.
    onError: () => undefined,
  });
  const remove = async (place: number) => {
    const hook = hooks[place];
    if (hook && (await askYes({ title: 'Remove this hook?', hint: hook.command, verb: 'Remove' }))) keep.mutate(hooks.filter((_, index) => index !== place), { onError: toast.problem });
  };
  return (
    <>
      {hooks.length === 0 && open === null ? <p className="muted">None yet.</p> : null}
      {hooks.map((hook, index) => open === index ? (
        <HookForm key={index} hook={hook} error={keep.error} busy={keep.isPending} onCancel={() => setOpen(null)} onDone={(next) => keep.mutate(hooks.map((one, place) => (place === index ? next : one)))} />
      ) : (
        <div className="provider" key={index}>
          <div className="row wrap">
            <span className="grow"><strong>{MOMENTS[hook.on]}</strong>{hook.tool ? <> <code>{hook.tool}</code></> : null} <span className="meta">up to {hook.timeout_seconds} s{hook.on_error === 'ignore' ? ' · ignored when it does not work' : ''}</span><br /><code className="cut">{hook.command}</code></span>
            <button type="button" className="button small" aria-label={`Edit hook ${index + 1}`} onClick={() => { keep.reset(); setOpen(index); }}>Edit</button>
            <button type="button" className="button small danger" aria-label={`Remove hook ${index + 1}`} onClick={() => void remove(index)}>Remove</button>
          </div>
        </div>
      ))}
      {open === hooks.length ? <HookForm hook={NEW} error={keep.error} busy={keep.isPending} onCancel={() => setOpen(null)} onDone={(next) => keep.mutate([...hooks, next])} /> : null}
      {open === null ? <div className="row"><button type="button" className="button" onClick={() => { keep.reset(); setOpen(hooks.length); }}><Plus /> New hook</button></div> : null}
    </>
  );
}

function HookForm({ hook, error, busy, onDone, onCancel }: { hook: Hook; error: unknown; busy: boolean; onDone: (hook: Hook) => void; onCancel: () => void }) {
  const [on, setOn] = useState(hook.on);
  const trouble = error ? explain(error) : null;
  const of_tools = on === 'before_tool' || on === 'after_tool';
  return (
    <form className="stack" onSubmit={(event) => {
      event.preventDefault();
      const form = new FormData(event.currentTarget);
      const word = (name: string) => String(form.get(name) ?? '').trim();
      onDone({ on, command: word('command'), timeout_seconds: Number(word('seconds')), on_error: word('trouble') === 'ignore' ? 'ignore' : 'refuse', ...(of_tools && word('tool') ? { tool: word('tool') } : {}) });
    }}>
      <label>When<select className="field" value={on} onChange={(event) => setOn(event.target.value as Hook['on'])}>{Object.entries(MOMENTS).map(([name, words]) => <option key={name} value={name}>{words}</option>)}</select></label>
      {of_tools ? <label>Only for this tool<input className="field" name="tool" defaultValue={hook.tool ?? ''} maxLength={200} placeholder="shell; every tool when left empty" /></label> : null}
      <label>Command<input className="field mono" name="command" required maxLength={4096} defaultValue={hook.command} placeholder="./check.sh" autoFocus /></label>
      <label>Longest time in seconds<input className="field" name="seconds" type="number" required min={1} max={3600} defaultValue={hook.timeout_seconds} /></label>
      <label>When it does not work<select className="field" name="trouble" defaultValue={hook.on_error}><option value="refuse">Refuse what it stands before</option><option value="ignore">Go on without it</option></select></label>
      {trouble ? <p className="bad" role="alert">{trouble.message} {trouble.advice}</p> : null}
      <div className="row"><button type="submit" className="button primary" disabled={busy}>Save</button><button type="button" className="button" onClick={onCancel}>Cancel</button></div>
    </form>
  );
}
