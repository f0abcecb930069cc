/** Everything by name: sessions, pages and what can be done here. */
import * as Dialog from '@radix-ui/react-dialog';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { useSessions } from '../api/queries';
import { folderName, nameOf } from '../inbox/groups';
import { SETTINGS_PAGES } from '../settings/pages';
import { allCommands } from './commands';
import { Keys } from './Shortcuts';

interface Choice {
  key: string;
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
    const all: Choice[] = [
      ...allCommands().map((command) => ({ key: command.id, label: command.label, hint: command.keys ? <Keys keys={command.keys} /> : '', run: command.run })),
      ...SETTINGS_PAGES.map((page) => ({ key: `settings.${page.id}`, label: `Settings: ${page.name}`, hint: '', run: () => void navigate({ to: '/settings/$page', params: { page: page.id } }) })),
      ...(sessions.data?.pages.flatMap((page) => page.sessions) ?? []).map((row) => ({ key: row.id, label: nameOf(row), hint: folderName(row.workspace), run: () => void navigate({ to: '/s/$id', params: { id: row.id } }) })),
    ];
    return all
      .flatMap((choice) => {
        const cost = fit(choice.label, wanted);
        return cost === null ? [] : [{ choice, cost }];
      })
      .sort((a, b) => a.cost - b.cost)
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
        {choices.map((choice, index) => (
          <div key={choice.key} id={`palette-${index}`} role="option" aria-selected={index === active} className={index === active ? 'menu-item active' : 'menu-item'} onClick={() => pick(choice)}>
            <span className="cut">{choice.label}</span><span className="hint">{choice.hint}</span>
          </div>
        ))}
        {choices.length === 0 ? <p className="menu-label">Nothing is called that.</p> : null}
      </div>
    </>
  );
}
