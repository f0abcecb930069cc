/** What can be done now, by key or from the palette. Each screen says what it offers; there is one place that listens. */
import { useEffect, useRef } from 'react';

export interface Command {
  id: string;
  label: string;
  /** As in `mod+k`, `g w`, `]`, `shift+tab`. */
  keys?: string;
  /** Also while one types. */
  typing?: boolean;
  hidden?: boolean;
  /** Where the palette lists it, if not among the places to go to. */
  group?: 'This session' | 'Status';
  /** Where its key counts; elsewhere the key keeps its own meaning. */
  when?: () => boolean;
  run: () => void;
}

/** By id, each as its screen says it now. */
const offered = new Map<string, () => Command | undefined>();
const current = () => [...offered.values()].flatMap((say) => say() ?? []);

export function useCommands(commands: Command[]) {
  const latest = useRef(commands);
  latest.current = commands;
  const ids = commands.map((command) => command.id).join();
  useEffect(() => {
    const mine = ids.split(',').filter(Boolean);
    for (const id of mine) offered.set(id, () => latest.current.find((command) => command.id === id));
    return () => {
      for (const id of mine) offered.delete(id);
    };
  }, [ids]);
}

export const allCommands = () => current().filter((command) => !command.hidden);

export function keyName(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key.toLowerCase();
  const shift = event.shiftKey && event.key.length > 1;
  return `${event.ctrlKey || event.metaKey ? 'mod+' : ''}${event.altKey ? 'alt+' : ''}${shift ? 'shift+' : ''}${key}`;
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

/** A second key counts for this long after the first. */
const CHORD_MS = 1_000;

export function listenForKeys(): () => void {
  let first = '';
  let at = 0;
  const hear = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    const name = keyName(event);
    const typing = isTyping(event.target);
    const inside = document.querySelector('[role="dialog"], [role="menu"]') !== null;
    const chord = first && event.timeStamp - at < CHORD_MS ? `${first} ${name}` : '';
    first = name;
    at = event.timeStamp;
    for (const wanted of [chord, name]) {
      if (!wanted) continue;
      for (const command of current()) {
        if (command.keys !== wanted || command.when?.() === false) continue;
        if ((typing && !command.typing) || (inside && !command.keys.startsWith('mod+'))) continue;
        event.preventDefault();
        first = '';
        command.run();
        return;
      }
    }
  };
  window.addEventListener('keydown', hear);
  return () => window.removeEventListener('keydown', hear);
}

const mac = () => /Mac|iPhone|iPad/.test(navigator.platform);
export function keyWords(keys: string): string {
  return keys.split(' ').map((part) => part.split('+').map((key) => ({ mod: mac() ? '⌘' : 'Ctrl', shift: 'Shift', tab: 'Tab', escape: 'Esc', enter: 'Enter' })[key] ?? key).join(' + ')).join(' then ');
}
