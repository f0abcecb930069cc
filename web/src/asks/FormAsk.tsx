/** A question with fields: filled in, checked field by field, sent as one answer. */
import { useId, useRef, useState } from 'react';
import type { Answer, Ask, Field } from '../api/events';
import { begun, filled, type Typed } from './form';

export function FormAsk({ kind, busy, answer }: { kind: Extract<Ask['kind'], { type: 'form' }>; busy: boolean; answer: (given: Answer) => Promise<void> }) {
  const [typed, setTyped] = useState<Typed>(() => begun(kind.fields));
  const [problems, setProblems] = useState<Record<string, string>>({});
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const change = (name: string, value: Typed[string]) => {
    setTyped({ ...typed, [name]: value });
    if (problems[name]) setProblems(Object.fromEntries(Object.entries(problems).filter(([other]) => other !== name)));
  };
  return (
    <form ref={form} className="ask-fields" noValidate onSubmit={(event) => {
      event.preventDefault();
      const done = filled(kind.fields, typed);
      setProblems(done.problems);
      const first = kind.fields.findIndex((field) => done.problems[field.name]);
      if (first >= 0) form.current?.querySelector<HTMLElement>(`[data-field="${first}"]`)?.focus();
      else void answer({ type: 'form', values: done.values });
    }}>
      {kind.fields.map((field, index) => (
        <OneField key={field.name} id={`${id}-${index}`} index={index} field={field} value={typed[field.name]} problem={problems[field.name]} busy={busy} onChange={(value) => change(field.name, value)} />
      ))}
      <div className="ask-buttons">
        <button type="submit" className="button primary" disabled={busy}>Send</button>
        <button type="button" className="button danger" disabled={busy} onClick={() => void answer({ type: 'reject' })}>Decline</button>
      </div>
    </form>
  );
}

const INPUTS = { email: 'email', uri: 'url', date: 'date', date_time: 'text' } as const;

function OneField({ id, index, field, value, problem, busy, onChange }: {
  id: string; index: number; field: Field; value: Typed[string] | undefined; problem: string | undefined; busy: boolean; onChange: (value: Typed[string]) => void;
}) {
  const { kind } = field;
  const notes = [field.description ? `${id}-what` : '', problem ? `${id}-wrong` : ''].filter(Boolean).join(' ') || undefined;
  const shared = { id, 'data-field': index, disabled: busy, 'aria-invalid': problem ? true : undefined, 'aria-describedby': notes } as const;
  const title = <>{field.title}{field.required ? null : <span className="meta"> optional</span>}</>;
  const chosen = Array.isArray(value) ? value : [];
  const words = typeof value === 'string' ? value : '';
  return (
    <div className="ask-field">
      {kind.type === 'flag' ? (
        <label className="ask-flag"><input {...shared} type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} /><span>{field.title}</span></label>
      ) : kind.type === 'choice' && (kind.several || kind.options.length <= 6) ? (
        <fieldset aria-describedby={notes}>
          <legend>{title}</legend>
          <div className="options">
            {kind.options.map((option, place) => (
              <button key={place} type="button" className="option" data-field={place === 0 ? index : undefined} disabled={busy} aria-pressed={chosen.includes(place)}
                onClick={() => onChange(chosen.includes(place) ? chosen.filter((other) => other !== place) : kind.several ? [...chosen, place].sort((a, b) => a - b) : [place])}>{option.title}</button>
            ))}
          </div>
        </fieldset>
      ) : (
        <>
          <label htmlFor={id}>{title}</label>
          {kind.type === 'choice' ? (
            <select {...shared} className="field" value={chosen[0] ?? ''} onChange={(event) => onChange(event.target.value === '' ? [] : [Number(event.target.value)])}>
              <option value="">Choose…</option>
              {kind.options.map((option, place) => <option key={place} value={place}>{option.title}</option>)}
            </select>
          ) : kind.type === 'text' && !kind.format && (kind.max_length ?? 0) > 200 ? (
            <textarea {...shared} className="field" rows={4} value={words} onChange={(event) => onChange(event.target.value)} />
          ) : (
            <input {...shared} className="field" type={kind.type === 'text' && kind.format ? INPUTS[kind.format] : 'text'} inputMode={kind.type === 'number' ? 'decimal' : undefined} value={words} onChange={(event) => onChange(event.target.value)} />
          )}
        </>
      )}
      {field.description ? <p id={`${id}-what`} className="meta">{field.description}</p> : null}
      {problem ? <p id={`${id}-wrong`} className="bad" role="alert">{problem}</p> : null}
    </div>
  );
}
