/**
 * Where the person speaks. It is never locked: while a turn runs, Enter queues and Ctrl+Enter steers; an
 * open ask changes nothing. What is typed survives a reload. `@` and `/` complete; pictures and files come
 * by paste, drop and button.
 */
import { ArrowUp, BookOpenCheck, Paperclip, Square, X } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { api, upload } from '../api/client';
import { arrived, say, sendOnce } from '../api/queries';
import type { InputPart } from '../api/types';
import { keyWords } from '../shell/commands';
import { toast } from '../shell/toast';
import { Completion, useCompletion } from './Completion';
import type { Said, View } from './fold';
import { openRun } from './flow';
import { ModelMenu, ModeMenu } from './Selectors';
import { counted } from './words';

interface Attached {
  key: string;
  name: string;
  /** `null` while it is on its way. */
  part: InputPart | null;
  /** How much of it is there, from 0 to 1. */
  share: number;
  preview: string | null;
  stop: AbortController;
}
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const LARGEST_PICTURE = 5 * 1024 * 1024;
const LARGEST_TEXT = 256 * 1024;

/** Why a file cannot go with a message, before anything of it is sent. The server has the last word, by its bytes. */
export function tooLarge(file: Pick<File, 'name' | 'size' | 'type'>): string | null {
  const isPicture = PICTURES.includes(file.type);
  if (file.size <= (isPicture ? LARGEST_PICTURE : LARGEST_TEXT)) return null;
  return isPicture
    ? `\`${file.name}\` is larger than 5 MB, which models do not take.`
    : `\`${file.name}\` is larger than 256 KB. Put it into the folder and name it with @; the agent reads it there.`;
}
let counter = 0;

/** What the next composer begins with: a message that is edited in a fork, with its pictures. */
type Message = Pick<Said, 'text' | 'images' | 'files'>;
let handed: Message | null = null;
export const handOver = (message: Message | null) => {
  handed = message;
};
let wantsFocus = false;
/** Whoever has just spoken goes on typing in the session that this leads to. Not where a keyboard would cover half of it. */
export const focusNext = () => {
  wantsFocus = window.matchMedia('(hover: hover)').matches;
};
export function useFocusNext() {
  useEffect(() => {
    if (wantsFocus) document.querySelector<HTMLElement>('[data-composer]')?.focus();
    wantsFocus = false;
  }, []);
}
function takeOver() {
  const message = handed;
  handed = null;
  return message;
}
const attachedTo = ({ files, images }: Pick<Said, 'images' | 'files'>): Attached[] => {
  const had = { share: 1, stop: new AbortController() };
  return [
    ...files.map(({ name, part }) => ({ ...had, key: `file-${(counter += 1)}`, name, part: { type: 'text' as const, text: part }, preview: null })),
    ...images.map(({ media_type, data }, index) => ({ ...had, key: `file-${(counter += 1)}`, name: `Picture ${index + 1}`, part: { type: 'image' as const, media_type, data }, preview: `data:${media_type};base64,${data}` })),
  ];
};

export function useAttachments(message: Message | null = null) {
  const [files, setFiles] = useState<Attached[]>(() => (message ? attachedTo(message) : []));
  const change = useCallback((key: string, by: Partial<Attached>) => setFiles((before) => before.map((file) => (file.key === key ? { ...file, ...by } : file))), []);
  const remove = useCallback((key: string) => setFiles((before) => before.filter((file) => {
    if (file.key !== key) return true;
    file.stop.abort();
    if (file.preview) URL.revokeObjectURL(file.preview);
    return false;
  })), []);
  const add = useCallback((list: Iterable<File>) => {
    for (const file of list) {
      const why = tooLarge(file);
      if (why) {
        toast.problem(why);
        continue;
      }
      const key = `file-${(counter += 1)}`;
      const stop = new AbortController();
      const preview = file.type.startsWith('image/') && file.type !== 'image/svg+xml' ? URL.createObjectURL(file) : null;
      setFiles((before) => [...before, { key, name: file.name, part: null, share: 0, preview, stop }]);
      upload<{ id: string }>('uploads', { name: file.name }, file, (share) => change(key, { share }), stop.signal).then(
        ({ id }) => change(key, { part: { type: 'upload', id }, share: 1 }),
        (error: unknown) => {
          if (stop.signal.aborted) return;
          toast.problem(error);
          remove(key);
        },
      );
    }
  }, [change, remove]);
  /** Out of the box with the message that they go with; back into it when that could not be sent. */
  const take = () => {
    setFiles([]);
    return files;
  };
  const putBack = (taken: Attached[]) => setFiles((before) => [...taken, ...before]);
  return { files, add, remove, take, putBack, parts: files.flatMap((file) => file.part ?? []), sending: files.some((file) => file.part === null) };
}

export function Attachments({ files, remove }: { files: Attached[]; remove: (key: string) => void }) {
  if (files.length === 0) return null;
  return (
    <ul className="attached" aria-label="Attached">
      {files.map((file) => (
        <li key={file.key} className="pill">
          {file.preview ? <img src={file.preview} alt="" /> : <Paperclip />}
          <span className="cut">{file.name}</span>
          {file.part === null ? <span role="progressbar" aria-label={`Sending ${file.name}`} aria-valuenow={Math.round(file.share * 100)} aria-valuemin={0} aria-valuemax={100}>{Math.round(file.share * 100)}%</span> : null}
          <button type="button" className="icon-button" aria-label={`Remove ${file.name}`} title="Remove" onClick={() => remove(file.key)}><X /></button>
        </li>
      ))}
    </ul>
  );
}

export function Composer({ id, view, running, onSent }: { id: string; view: View; running: boolean; onSent: () => void }) {
  const kept = `weft.draft.${id}`;
  const [edited] = useState(takeOver);
  const [text, setText] = useState(() => edited?.text ?? localStorage.getItem(kept) ?? '');
  const [secret, setSecret] = useState<{ kind: string; delivery: 'follow_up' | 'steer' } | null>(null);
  const attachments = useAttachments(edited);
  useFocusNext();
  // After an answer from documents the next question is usually to them too; one click makes it a plain message.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const lastRun = openRun(view.runs) === null ? view.runs.findLast((run) => run.flow === 'research') : undefined;
  const isRecent = (lastRun?.seq ?? -1) >= (view.turns.at(-1)?.seq ?? 0);
  const asksDocuments = lastRun !== undefined && !running && (chosen ?? isRecent);

  /** What was put back because no answer came. When it turns out that it was said, it need not be said again. */
  const lost = useRef<{ words: string; keys: string[] } | null>(null);
  const { remove } = attachments;
  useEffect(() => {
    const said = () => {
      const back = lost.current;
      lost.current = null;
      if (!back) return;
      setText((now) => (now.trim() === back.words ? '' : now));
      back.keys.forEach(remove);
    };
    arrived.addEventListener('said', said);
    return () => arrived.removeEventListener('said', said);
  }, [remove]);

  useEffect(() => {
    if (text) localStorage.setItem(kept, text);
    else localStorage.removeItem(kept);
  }, [kept, text]);

  const send = async (delivery: 'follow_up' | 'steer', how?: 'anyway' | 'redact') => {
    const words = text.trim();
    if ((!words && attachments.files.length === 0) || attachments.sending) return;
    const content: InputPart[] = [...(words ? [{ type: 'text' as const, text: words }] : []), ...attachments.parts];
    setText('');
    setSecret(null);
    const taken = attachments.take();
    const result = await say(id, content, delivery, how);
    if (result.sent) {
      taken.forEach((file) => file.preview && URL.revokeObjectURL(file.preview));
      onSent();
    } else {
      attachments.putBack(taken);
      setText((now) => now || words);
      if (!result.secret) lost.current = { words, keys: taken.map((file) => file.key) };
      if (result.secret) setSecret({ kind: result.secret.kind, delivery });
    }
  };
  const followUp = async () => {
    const question = text.trim();
    if (!question) return;
    setText('');
    try {
      const depth = depthOf(lastRun?.settings);
      await sendOnce(`sessions/${id}/research`, { question, ...(depth ? { depth } : {}) });
      onSent();
    } catch (error) {
      setText((now) => now || question);
      lost.current = { words: question, keys: [] };
      toast.problem(error);
    }
  };
  // A command and a file are for the agent, not for the documents.
  const submit = (steer: boolean) =>
    asksDocuments && attachments.files.length === 0 && !text.trim().startsWith('/') ? void followUp() : void send(steer && running ? 'steer' : 'follow_up');
  const stop = () => void api.post(`sessions/${id}/stop`).catch(toast.problem);

  return (
    <div className="composer-area">
      {view.queue.length > 0 ? (
        <ul className="queue" aria-label="Queued">
          {view.queue.map((queued) => (
            <li key={queued.input}>
              <span className="meta">{queued.delivery === 'steer' ? 'Next round' : 'Next turn'}</span>
              <span className="cut grow">{queued.text || counted(queued.files.length + queued.images.length, 'file')}</span>
              <button type="button" className="icon-button" aria-label="Take back" title="Take back" onClick={() => void api.remove(`sessions/${id}/queue/${queued.input}`).then(() => { setText((now) => now || queued.text); attachments.putBack(attachedTo(queued)); }, toast.problem)}><X /></button>
            </li>
          ))}
        </ul>
      ) : null}
      {secret ? <SecretStrip kind={secret.kind} onSend={(how) => void send(secret.delivery, how)} onEdit={() => setSecret(null)} /> : null}
      <Box text={text} setText={setText} workspace={view.workspace} placeholder={view.asks.length > 0 ? 'Answer above, or say something for afterwards' : running ? 'Say something while it works' : asksDocuments ? 'Ask a follow-up; it is looked up in the documents' : 'Say what you want done'} onFiles={attachments.add} canSend={!attachments.sending && (text.trim() !== '' || attachments.files.length > 0)} onStop={running ? stop : undefined}
        onSend={submit} above={<Attachments files={attachments.files} remove={attachments.remove} />}
        tools={<><ModeMenu id={id} mode={view.mode} /><ModelMenu id={id} model={view.model} />{lastRun && !running ? <button type="button" className="selector" aria-pressed={asksDocuments} title={asksDocuments ? 'The next message is a question to the documents. Click for a plain message.' : 'The next message goes to the agent. Click to ask the documents.'} onClick={() => setChosen(!asksDocuments)}><BookOpenCheck /> <span>{asksDocuments ? 'Ask the documents' : 'Plain message'}</span></button> : null}</>}
        hint={running ? <><kbd>Enter</kbd> queues · <kbd>{keyWords('mod+enter')}</kbd> steers · <kbd>Esc</kbd> stops</> : null}
        buttons={running ? (
          <>
            {text.trim() ? <button type="button" className="button small" onClick={() => void send('steer')}>Steer</button> : null}
            <button type="button" className="send stop" aria-label="Stop" title="Stop (Esc)" disabled={view.stopping} onClick={stop}><Square /></button>
          </>
        ) : null} />
    </div>
  );
}

/** What was to be said holds something like a secret: the person decides. */
export function SecretStrip({ kind, onSend, onEdit }: { kind: string; onSend: (how: 'redact' | 'anyway') => void; onEdit: () => void }) {
  return (
    <div className="secret" role="alert">
      <span className="grow">This looks like it holds {kind}. It was not sent.</span>
      <button type="button" className="button small primary" onClick={() => onSend('redact')}>Send without it</button>
      <button type="button" className="button small" onClick={() => onSend('anyway')}>Send anyway</button>
      <button type="button" className="button small" onClick={onEdit}>Edit</button>
    </div>
  );
}

function depthOf(settings: unknown): string | null {
  const depth = settings !== null && typeof settings === 'object' && 'depth' in settings ? settings.depth : null;
  return typeof depth === 'string' ? depth : null;
}

/** Files may fall anywhere on the page: whoever misses the box would otherwise be led away to the file. */
function useDrop(onFiles: (files: Iterable<File>) => void): boolean {
  const [over, setOver] = useState(false);
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const drag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(true);
    };
    // Entering a child leaves its parent; only the edge of the window is the end of it.
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      setOver(false);
      const files = event.dataTransfer?.files;
      if (!files?.length) return;
      event.preventDefault();
      latest.current(files);
    };
    window.addEventListener('dragover', drag);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', drag);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, []);
  return over;
}

export function Box({ text, setText, workspace, placeholder, onSend, canSend = text.trim() !== '', onStop, onFiles, above, tools, hint, buttons }: {
  text: string; setText: (text: string) => void; workspace: string; placeholder: string; onSend: (steer: boolean) => void; canSend?: boolean; onStop?: () => void;
  onFiles: (files: Iterable<File>) => void; above?: React.ReactNode; tools?: React.ReactNode; hint?: React.ReactNode; buttons?: React.ReactNode;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const over = useDrop(onFiles);
  const completion = useCompletion(field, text, setText, workspace);
  const keys = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (completion.onKey(event)) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      onSend(event.ctrlKey || event.metaKey);
    } else if (event.key === 'Escape' && onStop) {
      event.preventDefault();
      event.stopPropagation();
      onStop();
    } else if (event.key === 'Escape') {
      // Out of the box, so that the keys mean what they mean elsewhere.
      event.preventDefault();
      event.stopPropagation();
      field.current?.blur();
    }
  };
  return (
    <div className={over ? 'composer over' : 'composer'}>
      <Completion completion={completion} />
      {above}
      <textarea ref={field} data-composer value={text} rows={1} placeholder={placeholder} aria-label="Message" spellCheck
        role="combobox" aria-expanded={completion.options.length > 0} aria-controls="completion" aria-autocomplete="list" aria-activedescendant={completion.options.length > 0 ? `option-${completion.active}` : undefined}
        onChange={(event) => setText(event.target.value)} onSelect={completion.onMove} onKeyDown={keys} onBlur={completion.close}
        onPaste={(event) => {
          if (event.clipboardData.files.length > 0) {
            event.preventDefault();
            onFiles(event.clipboardData.files);
          }
        }} />
      <div className="composer-bar">
        <input ref={picker} type="file" multiple hidden onChange={(event) => { onFiles(event.target.files ?? []); event.target.value = ''; }} />
        <button type="button" className="icon-button" aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()}><Paperclip /></button>
        {tools}
        <span className="grow meta composer-hint">{hint ?? <span className="away"><kbd>/</kbd> to write</span>}</span>
        {buttons ?? <button type="button" className="send" aria-label="Send" title="Send (Enter)" disabled={!canSend} onClick={() => onSend(false)}><ArrowUp /></button>}
      </div>
    </div>
  );
}
