/** A form before it is sent: what was typed becomes values, and what is wrong is said field by field. The server checks again. */
import type { Field } from '../api/events';

/** What is typed: words for texts and numbers, a yes or no, the numbers of chosen options. */
export type Typed = Record<string, string | boolean | number[]>;
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

export function begun(fields: readonly Field[]): Typed {
  return Object.fromEntries(fields.map((field) => {
    const { kind } = field;
    if (kind.type === 'flag') return [field.name, field.default === true];
    if (kind.type !== 'choice') return [field.name, field.default === undefined || field.default === null ? '' : String(field.default)];
    const wanted = kind.several && Array.isArray(field.default) ? field.default : [field.default];
    return [field.name, kind.options.flatMap((option, index) => (wanted.some((one) => same(one, option.value)) ? [index] : []))];
  }));
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const isDate = (text: string) => DATE.test(text) && !Number.isNaN(Date.parse(text));
const isAddress = (text: string) => {
  try {
    return Boolean(new URL(text));
  } catch {
    return false;
  }
};

/** The value of one field; `undefined` where it is left out. Throws what to say to the person. */
export function valueOf(field: Field, typed: Typed[string] | undefined): unknown {
  const { kind } = field;
  if (kind.type === 'flag') return typed === true;
  if (kind.type === 'choice') {
    const chosen = Array.isArray(typed) ? typed : [];
    if (chosen.length === 0) {
      if (field.required) throw new Error(kind.several ? 'Choose at least one.' : 'Choose one.');
      return undefined;
    }
    const values = chosen.map((index) => kind.options[index]?.value);
    return kind.several ? values : values[0];
  }
  const text = typeof typed === 'string' ? (kind.type === 'number' ? typed.trim() : typed) : '';
  if (text === '') {
    if (field.required) throw new Error('Fill this in.');
    return undefined;
  }
  if (kind.type === 'number') {
    const number = Number(text.replace(',', '.'));
    if (!Number.isFinite(number)) throw new Error('This is not a number.');
    if (kind.integer && !Number.isInteger(number)) throw new Error('A whole number, please.');
    if (kind.min !== undefined && number < kind.min) throw new Error(`At least ${kind.min}.`);
    if (kind.max !== undefined && number > kind.max) throw new Error(`At most ${kind.max}.`);
    return number;
  }
  const length = [...text].length;
  if (kind.min_length !== undefined && length < kind.min_length) throw new Error(`At least ${kind.min_length} letters.`);
  if (kind.max_length !== undefined && length > kind.max_length) throw new Error(`At most ${kind.max_length} letters.`);
  if (kind.format === 'email' && !/^[^\s@]+@[^\s@]+$/.test(text)) throw new Error('This is no mail address.');
  if (kind.format === 'uri' && !isAddress(text)) throw new Error('This is no web address.');
  if (kind.format === 'date' && !isDate(text)) throw new Error('A date, as 2026-01-31.');
  if (kind.format === 'date_time' && Number.isNaN(Date.parse(text))) throw new Error('A date and time, as 2026-01-31T12:00:00Z.');
  return text;
}

export function filled(fields: readonly Field[], typed: Typed): { values: Record<string, unknown>; problems: Record<string, string> } {
  const values: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    try {
      const value = valueOf(field, typed[field.name]);
      if (value !== undefined) values[field.name] = value;
    } catch (error) {
      problems[field.name] = error instanceof Error ? error.message : String(error);
    }
  }
  return { values, problems };
}
