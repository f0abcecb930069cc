/** What `@` and `/` can become: agents and files of the workspace, commands, skills and prompts. */
import { useQuery } from '@tanstack/react-query';
import { useState, type KeyboardEvent, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { api } from '../api/client';

interface Option {
  insert: string;
  label: string;
  note: string;
}
interface Word {
  sign: '@' | '/';
  query: string;
  from: number;
  to: number;
}

/** The word under the cursor, if it is one to complete. A `/` counts only at the beginning. */
export function wordAt(text: string, cursor: number): Word | null {
  const before = text.slice(0, cursor);
  const found = /(^|\s)([@/])([^\s@]*)$/.exec(before);
  if (!found) return null;
  const sign = found[2] as '@' | '/';
  const from = cursor - (found[3]?.length ?? 0) - 1;
  if (sign === '/' && from !== 0) return null;
  return { sign, query: found[3] ?? '', from, to: cursor };
}

export function useCompletion(field: RefObject<HTMLTextAreaElement | null>, text: string, setText: (text: string) => void, workspace: string) {
  const [word, setWord] = useState<Word | null>(null);
  const [active, setActive] = useState(0);
  const commands = useQuery({
    queryKey: ['commands', workspace],
    queryFn: () => api.get<{ commands: { typed: string; arguments: string | null; description: string; kind: string }[] }>('commands', { workspace }),
    enabled: word !== null,
    staleTime: 60_000,
  });
  const files = useQuery({
    queryKey: ['files', workspace, word?.query],
    queryFn: ({ signal }) => api.get<{ files: { path: string; is_folder: boolean }[] }>('files', { workspace, q: word?.query, limit: 12 }, signal),
    enabled: word?.sign === '@',
    placeholderData: (before) => before,
  });
  const options: Option[] = [];
  if (word) {
    const wanted = word.query.toLowerCase();
    for (const command of commands.data?.commands ?? []) {
      const sign = command.typed.startsWith('@') ? '@' : '/';
      if (sign !== word.sign || !command.typed.toLowerCase().includes(wanted)) continue;
      options.push({ insert: command.typed, label: command.typed, note: command.description });
    }
    if (word.sign === '@') {
      for (const file of files.data?.files ?? []) options.push({ insert: `@${file.path}`, label: file.path, note: file.is_folder ? 'Folder' : '' });
    }
  }
  const shown = options.slice(0, 10);
  const close = () => setWord(null);
  const take = (option: Option) => {
    if (!word) return;
    const next = `${text.slice(0, word.from)}${option.insert} ${text.slice(word.to)}`;
    const cursor = word.from + option.insert.length + 1;
    // At once: a letter typed before the next frame would otherwise stand before the caret and not behind it.
    flushSync(() => {
      setText(next);
      close();
    });
    field.current?.setSelectionRange(cursor, cursor);
  };
  return {
    options: shown,
    active: Math.min(active, Math.max(0, shown.length - 1)),
    take,
    close,
    onMove: () => {
      const element = field.current;
      if (!element) return;
      setWord(element.selectionStart === element.selectionEnd ? wordAt(element.value, element.selectionStart) : null);
      setActive(0);
    },
    /** Whether the key was for the list. */
    onKey: (event: KeyboardEvent): boolean => {
      if (shown.length === 0) return false;
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (step !== 0) setActive((now) => (now + step + shown.length) % shown.length);
      else if ((event.key === 'Enter' && !event.shiftKey && !event.ctrlKey) || event.key === 'Tab') {
        const option = shown[Math.min(active, shown.length - 1)];
        // What is typed whole already is sent, not completed.
        if (event.key === 'Enter' && option && option.insert === text.trim()) return false;
        if (option) take(option);
      } else if (event.key === 'Escape') close();
      else return false;
      event.preventDefault();
      event.stopPropagation();
      return true;
    },
  };
}

export function Completion({ completion }: { completion: ReturnType<typeof useCompletion> }) {
  if (completion.options.length === 0) return null;
  return (
    <ul className="menu completion" id="completion" role="listbox" aria-label="Suggestions">
      {completion.options.map((option, index) => (
        <li key={option.insert} id={`option-${index}`} role="option" aria-selected={index === completion.active} className={index === completion.active ? 'menu-item active' : 'menu-item'}
          onMouseDown={(event) => { event.preventDefault(); completion.take(option); }}>
          <span className="mono">{option.label}</span>
          <span className="hint cut">{option.note}</span>
        </li>
      ))}
    </ul>
  );
}
