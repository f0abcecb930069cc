/** Everything by name: sessions, pages and what can be done here. */
import * as Dialog from '@radix-ui/react-dialog';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { useSessions } from '../api/queries';
import { folderName, nameOf } from '../inbox/groups';
import { SETTINGS_PAGES } from '../settings/pages';
import { allCommands } from './commands';
import { Keys } from './Shortcuts';

/** In this order, while nothing is typed. */
const GROUPS = ['This session', 'Go to', 'Recent sessions', 'Settings', 'Status'] as const;
const RECENT = 6;
interface Choice {
  key: string;
  group: (typeof GROUPS)[number];
  label: string;
  hint: ReactNode;
  run: () => void;
}

/** All letters in order, early and close together is better. Lower is better; `null` does not fit. */
export function fit(label: string, wanted: string): number | null {
  if (!wanted) return 0;
  const text = label.toLowerCase();
  const whole = text.indexOf(wanted);
  if (whole >= 0) return whole;
  let at = -1;
  let cost = 100;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return null;
    cost += next - at;
    at = next;
  }
  return cost;
}

export function Palette({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog palette" aria-describedby={undefined}>
          <Dialog.Title className="hidden-text">Go to or do</Dialog.Title>
          <Choices onDone={() => onOpenChange(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Choices({ onDone }: { onDone: () => void }) {
  const navigate = useNavigate();
  const [words, setWords] = useState('');
  const [active, setActive] = useState(0);
  const sessions = useSessions({ view: 'inbox' });
  const choices = useMemo(() => {
    const wanted = words.trim().toLowerCase();
    const recent = [...(sessions.data?.pages.flatMap((page) => page.sessions) ?? [])].sort((a, b) => b.updated_at - a.updated_at);
    const all: Choice[] = [
      ...allCommands().map((command) => ({ key: command.id, group: command.group ?? ('Go to' as const), label: command.label, hint: command.keys ? <Keys keys={command.keys} /> : '', run: command.run })),
      ...SETTINGS_PAGES.map((page) => ({ key: `settings.${page.id}`, group: 'Settings' as const, label: `Settings: ${page.name}`, hint: '', run: () => void navigate({ to: '/settings/$page', params: { page: page.id } }) })),
      ...recent.slice(0, wanted ? recent.length : RECENT).map((row) => ({ key: row.id, group: 'Recent sessions' as const, label: nameOf(row), hint: folderName(row.workspace), run: () => void navigate({ to: '/s/$id', params: { id: row.id } }) })),
    ];
    return all
      .flatMap((choice) => {
        const cost = fit(choice.label, wanted);
        return cost === null ? [] : [{ choice, cost }];
      })
      .sort((a, b) => a.cost - b.cost || GROUPS.indexOf(a.choice.group) - GROUPS.indexOf(b.choice.group))
      .slice(0, 40)
      .map(({ choice }) => choice);
  }, [words, sessions.data, navigate]);
  const pick = (choice: Choice | undefined) => {
    if (!choice) return;
    onDone();
    // The dialog gives the focus back first.
    window.setTimeout(choice.run, 30);
  };
  return (
    <>
      <input value={words} placeholder="Go to or do…" aria-label="Go to or do" role="combobox" aria-expanded aria-controls="palette-results" aria-activedescendant={`palette-${active}`} autoFocus
        onChange={(event) => { setWords(event.target.value); setActive(0); }}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (step !== 0 && choices.length > 0) {
            event.preventDefault();
            const next = (active + step + choices.length) % choices.length;
            setActive(next);
            document.getElementById(`palette-${next}`)?.scrollIntoView({ block: 'nearest' });
          } else if (event.key === 'Enter') {
            event.preventDefault();
            pick(choices[active]);
          }
        }} />
      <div className="results" id="palette-results" role="listbox" aria-label="Choices">
        {(words.trim() ? [null] : GROUPS).map((group) => {
          const rows = choices.flatMap((choice, index) => (group === null || choice.group === group ? [
            <div key={choice.key} id={`palette-${index}`} role="option" aria-selected={index === active} className={index === active ? 'menu-item active' : 'menu-item'} onClick={() => pick(choice)}>
              <span className="cut">{choice.label}</span><span className="hint">{choice.hint}</span>
            </div>,
          ] : []));
          if (group === null || rows.length === 0) return rows;
          return <div key={group} role="group" aria-label={group}><div className="menu-label" aria-hidden>{group}</div>{rows}</div>;
        })}
        {choices.length === 0 ? <p className="menu-label">Nothing is called that.</p> : null}
      </div>
    </>
  );
}
