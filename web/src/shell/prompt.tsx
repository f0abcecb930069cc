/** One line of text from the person, in a dialog: `await askText({…})`, `null` when they leave it. */
import * as Dialog from '@radix-ui/react-dialog';
import { cell, useCell } from './cell';

interface Wanted {
  title: string;
  hint?: string;
  value: string;
  done: (text: string | null) => void;
}
const wanted = cell<Wanted | null>(null);

export function askText(what: Omit<Wanted, 'done'>): Promise<string | null> {
  return new Promise((resolve) => wanted.set({ ...what, done: resolve }));
}

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
            <input className="field" name="text" defaultValue={now.value} aria-label={now.title} autoFocus />
            {now.hint ? <p className="meta">{now.hint}</p> : null}
            <div className="row"><button type="submit" className="button primary">Save</button><Dialog.Close className="button" type="button">Cancel</Dialog.Close></div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
