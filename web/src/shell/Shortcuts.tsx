/** Every shortcut in one list. */
import * as Dialog from '@radix-ui/react-dialog';
import { useViews } from '../api/queries';
import { keyWords } from './commands';

export const SHORTCUTS: [string, string][] = [
  ['mod+k', 'Go to or do'], ['c', 'New session'], ['/', 'Write a message'], ['g s', 'Search sessions'], ['g w', 'Next waiting ask'],
  ['mod+f', 'Find in this session'], ['g k', 'Search what is known'], ['g r', 'Research a question'], ['g ,', 'Settings'], [']', 'Panel'], ['escape', 'Stop the turn'], ['escape', 'Leave the box, when nothing runs'], ['shift+tab', 'Next mode (safe, ask, auto)'], ['enter', 'Send; queue while it works'],
  ['mod+enter', 'Steer while it works'], ['y', 'Allow once, in a focused ask'], ['n', 'Reject, in a focused ask'], ['?', 'This list'],
];

/** The keys as one presses them: together, or one after the other. */
export function Keys({ keys }: { keys: string }) {
  return <>{keys.split(' ').map((part) => <kbd key={part}>{keyWords(part)}</kbd>)}</>;
}

export function ShortcutTable() {
  const statuses = useViews().data?.statuses ?? [];
  const all = [...SHORTCUTS, ...statuses.flatMap(({ name, shortcut }): [string, string][] => (shortcut ? [[`s ${shortcut}`, `Status: ${name}`]] : []))];
  return (
    <dl className="shortcuts">
      {all.map(([keys, does]) => <div key={does}><dt>{does}</dt><dd><Keys keys={keys} /></dd></div>)}
    </dl>
  );
}

export function Shortcuts({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog padded" aria-describedby={undefined}>
          <Dialog.Title asChild><h1>Keyboard shortcuts</h1></Dialog.Title>
          <ShortcutTable />
          <Dialog.Close className="button">Close</Dialog.Close>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
