/** Short messages at the edge: what was done, with a way back, and what went wrong, with what to do. */
import { X } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { explain } from '../api/client';
import { Sentence } from '../markdown/inline';

interface Toast {
  id: number;
  text: string;
  bad: boolean;
  action?: { label: string; run: () => void };
}
const SHOWN_MS = 8_000;
let toasts: readonly Toast[] = [];
let count = 0;
const watchers = new Set<() => void>();

function set(next: readonly Toast[]) {
  toasts = next;
  for (const watcher of watchers) watcher();
}
function add(text: string, bad: boolean, action?: Toast['action']) {
  const id = ++count;
  set([...toasts.slice(-3), { id, text, bad, action }]);
  window.setTimeout(() => dismiss(id), SHOWN_MS);
}
const dismiss = (id: number) => set(toasts.filter((toast) => toast.id !== id));

export const toast = {
  say: (text: string, action?: Toast['action']) => add(text, false, action),
  problem: (error: unknown) => {
    const { message, advice } = explain(error);
    add(advice ? `${message} ${advice}` : message, true);
  },
};

export function Toasts() {
  const shown = useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, bad, action }) => (
        <div key={id} className="toast">
          <span className={bad ? 'grow bad' : 'grow'}><Sentence text={text} /></span>
          {action ? (
            <button type="button" className="button small" onClick={() => { action.run(); dismiss(id); }}>{action.label}</button>
          ) : null}
          <button type="button" className="icon-button" aria-label="Dismiss" title="Dismiss" onClick={() => dismiss(id)}><X /></button>
        </div>
      ))}
    </div>
  );
}
