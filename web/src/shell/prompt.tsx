/** One line of text from the person, or a yes, in a dialog: `await askText({…})`, `null` when they leave it. */
import * as Dialog from '@radix-ui/react-dialog';
import { cell, useCell } from './cell';

interface Wanted {
  title: string;
  hint?: string;
  /** Without one, a yes is all that is wanted. */
  value?: string;
  /** What the button says. */
  verb?: string;
  done: (text: string | null) => void;
}
const wanted = cell<Wanted | null>(null);

export function askText(what: Omit<Wanted, 'done'> & { value: string }): Promise<string | null> {
  return new Promise((resolve) => wanted.set({ ...what, done: resolve }));
}
/** Before something that cannot be taken back with a click. */
export const askYes = (what: { title: string; hint: string; verb: string }): Promise<boolean> =>
  new Promise((resolve) => wanted.set({ ...what, done: (text) => resolve(text !== null) }));

export function TextPrompt() {
  const now = useCell(wanted);
  if (!now) return null;
  const close = (text: string | null) => {
    wanted.set(null);
    now.done(text);
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && close(null)}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog padded" aria-describedby={undefined}>
          <Dialog.Title asChild><h1>{now.title}</h1></Dialog.Title>
          <form onSubmit={(event) => {
            event.preventDefault();
            close(String(new FormData(event.currentTarget).get('text') ?? ''));
          }}>
            {now.value === undefined ? null : <input className="field" name="text" defaultValue={now.value} aria-label={now.title} autoFocus />}
            {now.hint ? <p className={now.value === undefined ? undefined : 'meta'}>{now.hint}</p> : null}
            <div className="row"><button type="submit" className="button primary" autoFocus={now.value === undefined}>{now.verb ?? 'Save'}</button><Dialog.Close className="button" type="button">Cancel</Dialog.Close></div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
