/** The person's own order among sessions: what statuses there are, and how they and the labels look. */
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useKeepViews, useViews, type AutoLabel } from '../api/queries';
import type { Colour, Status, StatusIconName } from '../api/types';
import { labelTree } from '../inbox/groups';
import { COLOURS, labelColour, sameColour, STATUS_ICONS, StatusMark, tint } from '../inbox/statuses';
import { Sentence } from '../markdown/inline';
import { Page, Section } from './parts';

export function Statuses() {
  const views = useViews();
  return (
    <>
      {views.data?.notice ? <p className="bad" role="alert"><Sentence text={views.data.notice} /></p> : null}
      <Section title="Statuses" says={<>Your own words for where work stands. Press <kbd>s</kbd> and then a status’s key in an open session, or on one in the list. What is closed steps back in the list; “Open” and “Closed” in its filter show one or the other.</>}>
        <Page query={views}>{(data) => <StatusRows statuses={data.statuses} />}</Page>
      </Section>
      <Section title="Colours of labels" says="A label without a colour has that of the label above it.">
        <Page query={views}>{(data) => <LabelRows labels={data.labels} colours={data.colours} />}</Page>
      </Section>
      <Section title="Labels by what is said" says={<>A session gets a label when something is said in it, here, in the terminal or from a script. <code>*</code> stands for anything in between, as in <code>fix*test</code>; capitals make no difference.</>}>
        <Page query={views}>{(data) => <AutoLabels rules={data.auto_labels} />}</Page>
      </Section>
    </>
  );
}

function StatusRows({ statuses }: { statuses: readonly Status[] }) {
  const keep = useKeepViews();
  const change = (name: string, by: Partial<Status>) => {
    const renamed = by.name !== undefined && by.name !== name ? { [name]: by.name } : undefined;
    keep.mutate((now) => ({ statuses: now.statuses.map((status) => (status.name === name ? { ...status, ...by } : status)), renamed }));
  };
  const move = (name: string, by: number) =>
    keep.mutate((now) => {
      const next = [...now.statuses];
      const from = next.findIndex((status) => status.name === name);
      if (from >= 0) next.splice(Math.max(from + by, 0), 0, ...next.splice(from, 1));
      return { statuses: next };
    });
  const add = () =>
    keep.mutate((now) => {
      const taken = new Set(now.statuses.map((status) => status.name));
      let name = 'New status';
      for (let number = 2; taken.has(name); number += 1) name = `New status ${number}`;
      return { statuses: [...now.statuses, { name, category: 'open', icon: 'circle', colour: null, shortcut: null }] };
    });
  return (
    <>
      <ul className="status-rows" aria-label="Statuses">
        {statuses.map((status, index) => (
          <li key={status.name} className="status-row">
            <StatusMark status={status} />
            <Typed value={status.name} label={`Name of ${status.name}`} longest={60} onDone={(name) => name && change(status.name, { name })} />
            <select className="field" aria-label={`Category of ${status.name}`} value={status.category} onChange={(event) => change(status.name, { category: event.target.value as Status['category'] })}>
              <option value="open">Open</option><option value="closed">Closed</option>
            </select>
            <select className="field" aria-label={`Icon of ${status.name}`} value={status.icon} onChange={(event) => change(status.name, { icon: event.target.value as StatusIconName })}>
              {Object.entries(STATUS_ICONS).map(([icon, [words]]) => <option key={icon} value={icon}>{words}</option>)}
            </select>
            <ColourField label={`Colour of ${status.name}`} none="No colour" colour={status.colour} onChange={(colour) => change(status.name, { colour })} />
            <label className="row status-key"><span className="meta">s then</span>
              <Typed value={status.shortcut ?? ''} label={`Key of ${status.name}`} longest={1} onDone={(key) => change(status.name, { shortcut: key.toLowerCase() || null })} />
            </label>
            <span className="row">
              <button type="button" className="icon-button" disabled={index === 0} aria-label={`Move ${status.name} up`} title="Move up" onClick={() => move(status.name, -1)}><ArrowUp /></button>
              <button type="button" className="icon-button" disabled={index === statuses.length - 1} aria-label={`Move ${status.name} down`} title="Move down" onClick={() => move(status.name, 1)}><ArrowDown /></button>
              <button type="button" className="icon-button" aria-label={`Remove ${status.name}`} title="Remove; sessions keep the word" onClick={() => keep.mutate((now) => ({ statuses: now.statuses.filter((other) => other.name !== status.name) }))}><Trash2 /></button>
            </span>
          </li>
        ))}
      </ul>
      <button type="button" className="button small add-status" onClick={add}><Plus /> Add a status</button>
    </>
  );
}

/** A field that is saved when one leaves it or presses Enter. */
function Typed({ value, label, longest, onDone }: { value: string; label: string; longest: number; onDone: (text: string) => void }) {
  const [text, setText] = useState<string | null>(null);
  const done = () => {
    const next = text?.trim();
    setText(null);
    if (next !== undefined && next !== value) onDone(next);
  };
  return <input className="field" aria-label={label} value={text ?? value} maxLength={longest} onChange={(event) => setText(event.target.value)} onBlur={done} onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()} />;
}

function AutoLabels({ rules }: { rules: readonly AutoLabel[] }) {
  const keep = useKeepViews();
  const same = (one: AutoLabel, other: AutoLabel) => one.pattern === other.pattern && one.label === other.label;
  return (
    <>
      {rules.length > 0 ? (
        <ul className="status-rows" aria-label="Labels by what is said">
          {rules.map((rule) => (
            <li key={`${rule.pattern}\0${rule.label}`} className="label-row">
              <span className="grow cut"><code>{rule.pattern}</code> gives {rule.label}</span>
              <button type="button" className="icon-button" aria-label={`Remove ${rule.pattern}`} title="Remove; sessions keep the label" onClick={() => keep.mutate((now) => ({ auto_labels: now.auto_labels.filter((other) => !same(other, rule)) }))}><Trash2 /></button>
            </li>
          ))}
        </ul>
      ) : null}
      <form className="row wrap" onSubmit={(event) => {
        event.preventDefault();
        const element = event.currentTarget;
        const form = new FormData(element);
        const rule = { pattern: String(form.get('pattern') ?? '').trim(), label: String(form.get('label') ?? '').trim() };
        keep.mutate((now) => ({ auto_labels: [...now.auto_labels.filter((other) => !same(other, rule)), rule] }), { onSuccess: () => element.reset() });
      }}>
        <input className="field grow" name="pattern" required maxLength={200} aria-label="What is said" placeholder="invoice" />
        <input className="field grow" name="label" required maxLength={60} aria-label="Label for it" placeholder="work/money" />
        <button type="submit" className="button small" disabled={keep.isPending}><Plus /> Add</button>
      </form>
    </>
  );
}

const OWN = 'own';

function ColourField({ label, none, colour, onChange }: { label: string; none: string; colour: Colour | null; onChange: (colour: Colour | null) => void }) {
  const known = Object.entries(COLOURS).find(([, one]) => sameColour(one, colour))?.[0];
  const chosen = colour ? (known ?? OWN) : '';
  return (
    <span className="row colour-field">
      <select className="field" aria-label={label} value={chosen} onChange={(event) => {
        const name = event.target.value;
        onChange(name === '' ? null : (COLOURS[name] ?? colour ?? { light: '#5b6270', dark: '#a5adba' }));
      }}>
        <option value="">{none}</option>
        {Object.keys(COLOURS).map((name) => <option key={name}>{name}</option>)}
        {chosen === OWN ? <option value={OWN}>Own</option> : null}
      </select>
      {colour ? (['light', 'dark'] as const).map((screen) => (
        <input key={screen} type="color" aria-label={`${label} on ${screen} screens`} title={`On ${screen} screens`} defaultValue={colour[screen]} onBlur={(event) => {
          if (event.target.value !== colour[screen]) onChange({ ...colour, [screen]: event.target.value });
        }} />
      )) : null}
    </span>
  );
}

function LabelRows({ labels, colours }: { labels: readonly { name: string; sessions: number }[]; colours: Readonly<Record<string, Colour>> }) {
  const keep = useKeepViews();
  const tree = labelTree(labels);
  if (tree.length === 0) return <p className="muted">No session has a label yet. Give one in a session’s menu in the list; a slash makes a tree, as in <code>work/urgent</code>.</p>;
  return (
    <ul className="status-rows" aria-label="Labels">
      {tree.map((node) => (
        <li key={node.name} className="label-row" style={{ paddingLeft: node.depth * 18 }}>
          <span className="label-dot" style={tint(labelColour(colours, node.name)) ?? { color: 'transparent' }} aria-hidden="true" />
          <span className="grow cut">{node.label} <span className="meta">{node.sessions}</span></span>
          <ColourField key={JSON.stringify(colours[node.name])} label={`Colour of ${node.name}`} none={node.depth > 0 ? 'As above' : 'No colour'} colour={colours[node.name] ?? null} onChange={(colour) => {
            keep.mutate((now) => {
              const next = { ...now.colours };
              if (colour) next[node.name] = colour;
              else delete next[node.name];
              return { colours: next };
            });
          }} />
        </li>
      ))}
    </ul>
  );
}
