/** The person's own commands at fixed points of a turn, in their order. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { api, explain, isChanged } from '../api/client';
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
      <Page query={settings}>{(data) => <HookRows hooks={data.hooks} version={data.hooks_version} />}</Page>
    </Section>
  );
}

const same = (one: Hook, other: Hook) => one.on === other.on && one.tool === other.tool && one.command === other.command && one.timeout_seconds === other.timeout_seconds && one.on_error === other.on_error;

function HookRows({ hooks, version }: { hooks: readonly Hook[]; version: string }) {
  const client = useQueryClient();
  /** The one that is open, as it was then; `new` is one that is not there yet. */
  const [open, setOpen] = useState<Hook | 'new' | null>(null);
  const keep = useMutation({
    // The version goes with the list that it belongs to: by the time a question is answered there may be newer ones.
    mutationFn: (next: { hooks: Hook[]; version: string }) => api.put<SettingsData>('settings/hooks', next),
    onSuccess: (data) => {
      client.setQueryData(['settings'], data);
      setOpen(null);
      toast.say('The hooks hold from now on.');
    },
    // Said beside what is wrong. Whoever was quicker is shown at once, and what was typed stays.
    onError: (error) => void (isChanged(error) && client.invalidateQueries({ queryKey: ['settings'] })),
  });
  const place = open === null || open === 'new' ? -1 : hooks.findIndex((hook) => same(hook, open));
  const done = (next: Hook) => keep.mutate({ hooks: place < 0 ? [...hooks, next] : hooks.map((one, index) => (index === place ? next : one)), version });
  const remove = async (index: number) => {
    const hook = hooks[index];
    if (hook && (await askYes({ title: 'Remove this hook?', hint: hook.command, verb: 'Remove' }))) keep.mutate({ hooks: hooks.filter((_, other) => other !== index), version }, { onError: toast.problem });
  };
  const change = (what: Hook | 'new') => {
    keep.reset();
    setOpen(what);
  };
  return (
    <>
      {hooks.length === 0 && open === null ? <p className="muted">None yet.</p> : null}
      {hooks.map((hook, index) => (
        <div className="provider" key={index} aria-current={index === place ? 'true' : undefined}>
          <div className="row wrap">
            <span className="grow"><strong>{MOMENTS[hook.on]}</strong>{hook.tool ? <> <code>{hook.tool}</code></> : null} <span className="meta">up to {hook.timeout_seconds} s{hook.on_error === 'ignore' ? ' · ignored when it does not work' : ''}</span><br /><code className="cut">{hook.command}</code></span>
            <button type="button" className="button small" aria-label={`Edit hook ${index + 1}`} disabled={open !== null} onClick={() => change(hook)}>Edit</button>
            <button type="button" className="button small danger" aria-label={`Remove hook ${index + 1}`} disabled={open !== null} onClick={() => void remove(index)}>Remove</button>
          </div>
        </div>
      ))}
      {open === null ? <div className="row"><button type="button" className="button" onClick={() => change('new')}><Plus /> New hook</button></div> : (
        <>
          <h3>{open === 'new' ? 'New hook' : place < 0 ? 'Changed hook' : `Hook ${place + 1}`}</h3>
          {open !== 'new' && place < 0 ? <p className="muted">This hook is no longer in the list as you opened it. Saving adds it at the end.</p> : null}
          <HookForm hook={open === 'new' ? NEW : open} error={keep.error} busy={keep.isPending} onCancel={() => setOpen(null)} onDone={done} />
        </>
      )}
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
      {of_tools ? <label>Only for this tool<input className="field" name="tool" defaultValue={hook.tool ?? ''} maxLength={200} placeholder="shell, jobs; every tool when left empty" /></label> : null}
      <label>Command<input className="field mono" name="command" required maxLength={4096} defaultValue={hook.command} placeholder="./check.sh" autoFocus /></label>
      <label>Longest time in seconds<input className="field" name="seconds" type="number" required min={1} max={3600} defaultValue={hook.timeout_seconds} /></label>
      <label>When it does not work<select className="field" name="trouble" defaultValue={hook.on_error}><option value="refuse">Refuse what it stands before</option><option value="ignore">Go on without it</option></select></label>
      {trouble ? <p className="bad" role="alert">{trouble.message} {trouble.advice}</p> : null}
      <div className="row"><button type="submit" className="button primary" disabled={busy}>Save</button><button type="button" className="button" onClick={onCancel}>Cancel</button></div>
    </form>
  );
}
