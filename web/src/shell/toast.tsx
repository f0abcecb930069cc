/** Short messages at the edge: what was done, with a way back, and what went wrong, with what to do. */
import { X } from 'lucide-react';
import { explain } from '../api/client';
import { Sentence } from '../markdown/inline';
import { cell, useCell } from './cell';

interface Toast {
  id: number;
  text: string;
  bad: boolean;
  action?: { label: string; run: () => void };
}
const SHOWN_MS = 8_000;
const toasts = cell<readonly Toast[]>([]);
let count = 0;

function add(text: string, bad: boolean, action?: Toast['action']) {
  const id = ++count;
  toasts.set([...toasts.get().slice(-3), { id, text, bad, action }]);
  window.setTimeout(() => dismiss(id), SHOWN_MS);
}
const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id));

export const toast = {
  say: (text: string, action?: Toast['action']) => add(text, false, action),
  problem: (error: unknown) => {
    const { message, advice } = explain(error);
    add(advice ? `${message} ${advice}` : message, true);
  },
};

export function Toasts() {
  const shown = useCell(toasts);
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
