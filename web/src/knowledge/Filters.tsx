/** What a search is limited to beside its domain. Each is part of the search: it finds as many as there are. */
import { useState } from 'react';
import type { Limits } from './knowledge';

const KINDS = ['file', 'module', 'function', 'method', 'struct', 'class', 'enum', 'interface', 'type', 'constant', 'variable', 'field', 'macro', 'test', 'document', 'section', 'paragraph', 'table', 'session', 'turn', 'plan', 'decision', 'failure', 'pattern', 'task_completion', 'refactoring', 'bug_fix', 'feature', 'commit', 'paper'];
const LANGUAGES = ['rust', 'python', 'typescript', 'tsx', 'javascript', 'go', 'java', 'c', 'cpp', 'csharp', 'ruby', 'php', 'bash', 'markdown', 'html', 'pdf', 'docx', 'text', 'json', 'yaml', 'toml', 'xml', 'css', 'sql'];
const PARTS = ['kind', 'language', 'path', 'since', 'until'] as const;

/** How many of them are set. */
export const limited = (limits: Limits) => PARTS.filter((part) => limits[part]).length;

export function Filters({ limits, onChange }: { limits: Limits; onChange: (limits: Limits) => void }) {
  const count = limited(limits);
  const [open, setOpen] = useState(count > 0);
  const choice = (part: 'kind' | 'language', label: string, any: string, words: string[]) => (
    <label>{label}
      <select className="field" value={limits[part] ?? ''} onChange={(event) => onChange({ [part]: event.target.value || undefined })}>
        <option value="">{any}</option>
        {words.map((word) => <option key={word} value={word}>{word.replace('_', ' ')}</option>)}
      </select>
    </label>
  );
  const day = (part: 'since' | 'until', label: string) => (
    <label>{label}
      <input className="field" type="date" value={limits[part] ?? ''} onChange={(event) => onChange({ [part]: event.target.value || undefined })} />
    </label>
  );
  return (
    <details className="filters" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{count > 0 ? `Filters (${count})` : 'Filters'}</summary>
      <div className="row wrap">
        {choice('kind', 'Kind', 'Any kind', KINDS)}
        {choice('language', 'Language', 'Any language', LANGUAGES)}
        <label>Path begins with
          <input className="field mono" type="text" value={limits.path ?? ''} onChange={(event) => onChange({ path: event.target.value || undefined })} />
        </label>
        {day('since', 'Changed from')}
        {day('until', 'Changed until')}
        {count > 0 ? <button type="button" className="button small" onClick={() => onChange(Object.fromEntries(PARTS.map((part) => [part, undefined])))}>Clear filters</button> : null}
      </div>
    </details>
  );
}
