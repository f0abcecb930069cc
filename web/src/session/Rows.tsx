/** How each row of a session looks. Rows read the fold and nothing else; what they do goes through `Doing`. */
import { Ban, ChevronDown, ChevronRight, CircleAlert, CircleQuestionMark, FilePen, FileSearch, GitFork, Globe, Info, ListTodo, ListTree, Paperclip, Pause, Pencil, RotateCcw, Square, Terminal, Undo2, Wrench, X } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import { createContext, memo, useContext, useState, type ReactNode } from 'react';
import { api } from '../api/client';
import type { EndReason, Image } from '../api/events';
import { AskCard } from '../asks/AskCard';
import { CopyButton } from '../markdown/CodeBlock';
import { Markdown } from '../markdown/Markdown';
import { Sentence } from '../markdown/inline';
import { DocumentRow, PauseRow, StageRow } from '../research/RunRows';
import { toast } from '../shell/toast';
import { useNow } from '../shell/useNow';
import { Counts, Diff } from './Diff';
import type { Call, CallState, Said, SessionView, Turn } from './fold';
import { groupWords, type Row } from './rows';
import { answerWords, bytes, canGoOn, counted, dollars, duration, toolWords } from './words';

export interface Doing {
  session: string;
  toggle: (key: string) => void;
  /** A copy up to this event, without an input that waits there. */
  fork: (seq: number, input?: string) => void;
  /** To say it otherwise, in a copy. */
  edit: (turn: Turn, said: Said) => void;
  /** The same once more, in a copy. */
  retry: (turn: Turn, said: Said) => void;
  undo: () => void;
  goOn: () => void;
  trace: (seq: number) => void;
  /** Shows what the run was checked by, and a source beside the document. */
  research: () => void;
  source: (id: string) => void;
}
export const DoingContext = createContext<Doing | null>(null);
export function useDoing(): Doing {
  const doing = useContext(DoingContext);
  if (!doing) throw new Error('A row was drawn outside of its session.');
  return doing;
}

export const RowView = memo(function RowView({ row }: { row: Row }) {
  switch (row.type) {
    case 'said':
      return <SaidRow row={row} />;
    case 'text':
      return <div className="answer"><Markdown text={row.text} streaming={row.streaming} /></div>;
    case 'thinking':
      return <Thinking row={row} />;
    case 'group':
      return <Group row={row} />;
    case 'call':
      return <CallRow row={row} />;
    case 'ask':
      return <AskHere row={row} />;
    case 'note':
      return <NoteRow row={row} />;
    case 'stage':
      return <StageRow run={row.run} id={row.item.stage} title={row.item.title} />;
    case 'pause':
      return <PauseRow text={row.text} />;
    case 'document':
      return <DocumentRow run={row.run} text={row.text} />;
    case 'writing':
      return <div className="step running"><Pencil /><span>Preparing {toolWords(row.name)}…</span></div>;
    case 'working':
      return <Working row={row} />;
    case 'end':
      return <End row={row} />;
  }
});

function AskHere({ row }: { row: Extract<Row, { type: 'ask' }> }) {
  const { session } = useDoing();
  return <AskCard session={session} ask={row.asked.ask} />;
}

function SaidRow({ row }: { row: Extract<Row, { type: 'said' }> }) {
  const { fork, edit, retry, trace } = useDoing();
  const { item, turn } = row;
  return (
    <div className="said">
      <div className="said-actions">
        <CopyButton text={item.text} label="Copy message" />
        <button type="button" className="icon-button" title="Edit and try again in a fork" aria-label="Edit and try again in a fork" onClick={() => edit(turn, item)}><Pencil /></button>
        <button type="button" className="icon-button" title="Try again in a fork" aria-label="Try again in a fork" onClick={() => retry(turn, item)}><RotateCcw /></button>
        <button type="button" className="icon-button" title="Fork from here" aria-label="Fork from here" onClick={() => fork(turn.seq - 1, item.input)}><GitFork /></button>
        <button type="button" className="icon-button" title="Show in trace" aria-label="Show this message in the trace" onClick={() => trace(item.heard || item.seq)}><ListTree /></button>
      </div>
      <div className="said-text">
        {item.steered ? <span className="meta">While it worked</span> : null}
        {item.text ? <div className="said-words">{item.text}</div> : null}
        {item.files.map((file, index) => <details key={index} className="said-file"><summary><Paperclip /> {file.name}</summary><pre className="output tall" tabIndex={0} aria-label={file.name}>{file.text}</pre></details>)}
        <Pictures images={item.images} />
      </div>
    </div>
  );
}

/** Only pictures that a browser draws without running anything. */
export function Pictures({ images }: { images: readonly Image[] | undefined }) {
  const safe = (images ?? []).filter((image) => /^image\/(png|jpeg|gif|webp)$/.test(image.media_type));
  if (safe.length === 0) return null;
  return (
    <div className="pictures">
      {safe.map((image, index) => <img key={index} src={`data:${image.media_type};base64,${image.data}`} alt={`Picture ${index + 1}`} />)}
    </div>
  );
}

function Thinking({ row }: { row: Extract<Row, { type: 'thinking' }> }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="thinking">
      <button type="button" className="step fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? <ChevronDown /> : <ChevronRight />}
        <span>{row.draft ? (row.streaming ? 'The model answers…' : `The model answered${row.millis ? ` after ${duration(row.millis)}` : ''}`) : row.streaming ? <>Thinking… {row.since ? <Elapsed since={row.since} /> : null}</> : thoughtWords(row.millis)}</span>
        {open ? null : <span className="cut grow meta">{row.streaming ? lastLine(row.text) : firstLine(row.text)}</span>}
      </button>
      {open ? <div className="thoughts">{row.text}</div> : null}
    </div>
  );
}

/** A thought that came in one piece has no time that could be told. */
const thoughtWords = (millis: number | null) => (millis !== null && millis >= 100 ? `Thought for ${duration(millis)}` : 'Thought');

/** What it says now, begun at a word; and what it began with, once it is over. */
const lastLine = (text: string) => {
  const line = text.trimEnd().split('\n').pop() ?? '';
  return line.length > 120 ? `…${line.slice(-120).replace(/^\S*\s/, '')}` : line;
};
const firstLine = (text: string) => text.trimStart().split('\n', 1)[0] ?? '';

function Group({ row }: { row: Extract<Row, { type: 'group' }> }) {
  const { toggle } = useDoing();
  return (
    <button type="button" className="step fold" aria-expanded={row.open} onClick={() => toggle(row.key)}>
      {row.open ? <ChevronDown /> : <ChevronRight />}
      <span className="cut">{groupWords(row.calls)}</span>
    </button>
  );
}

const STATES: Record<CallState, string> = {
  planned: 'Waiting', running: 'Running', ok: 'Done', failed: 'Failed', invalid: 'Not run: wrong arguments', denied: 'Not allowed', interrupted: 'Interrupted',
};

/** A command that ran and ended badly is no failure of the tool, but it is what the person should see. */
const endedBadly = ({ state, output }: Call) => state === 'ok' && output?.display?.type === 'command' && output.display.exit_code !== null && output.display.exit_code !== 0;

function icon(call: Call): ReactNode {
  if (endedBadly(call)) return <X className="bad" />;
  switch (call.state) {
    case 'failed':
    case 'invalid':
      return <X className="bad" />;
    case 'denied':
      return <Ban className="muted" />;
    case 'interrupted':
      return <Square className="muted" />;
    case 'planned':
      return <Pause className="muted" />;
    default:
      break;
  }
  const display = call.output?.display?.type;
  if (display === 'todo') return <ListTodo />;
  if (display === 'diff' || call.access === 'write') return <FilePen />;
  if (call.tool === 'ask_user') return <CircleQuestionMark />;
  if (call.tool.startsWith('mcp__')) return <Wrench />;
  if (/fetch|web/.test(call.tool)) return <Globe />;
  return call.access === 'read' ? <FileSearch /> : <Terminal />;
}

function CallRow({ row }: { row: Extract<Row, { type: 'call' }> }) {
  const { call } = row;
  const [open, setOpen] = useState<boolean | null>(null);
  const display = call.output?.display;
  const shown = open ?? (display?.type === 'diff' && call.state === 'ok' && display.added + display.removed <= 24);
  const closed = call.ask && (call.ask.answer || call.ask.withdrawn);
  // What was asked stays to be read; what was answered stands under it.
  const asked = closed && call.ask && call.ask.ask.kind.type !== 'approval' ? call.ask.ask.question : null;
  return (
    <div className={`call${row.nested ? ' nested' : ''}`} data-state={call.state}>
      <button type="button" className="step fold" aria-expanded={shown} onClick={() => setOpen(!shown)}>
        <span className={call.state === 'running' ? 'state running' : 'state'} role="img" aria-label={STATES[call.state]} title={STATES[call.state]}>{icon(call)}</span>
        <span className="cut grow">
          <Sentence text={asked ?? (call.summary || toolWords(call.tool))} />
          {call.state === 'interrupted' ? <span className="muted"> · interrupted</span> : null}
          {call.state === 'planned' && !call.ask ? <span className="muted"> · not begun</span> : null}
        </span>
        {display?.type === 'diff' && !/[+−]\d/.test(call.summary) ? <Counts added={display.added} removed={display.removed} /> : null}
        <Took call={call} />
      </button>
      {closed && call.ask ? <div className="step-note meta">{call.ask.answer ? answerWords(call.ask.answer.answer, call.ask.answer.by).replace(/^Rejected/, asked === null ? 'Rejected' : 'Declined') : withdrawnWords(call.ask.withdrawn)}</div> : null}
      {row.output && call.state === 'running' ? <pre className="output live" aria-label="Output so far"><code>{tail(row.output, 12)}</code></pre> : null}
      {!shown ? <Brief call={call} /> : <Whole call={call} onMore={open === null ? () => setOpen(true) : null} />}
    </div>
  );
}

function withdrawnWords(why: string | null): string {
  if (why === 'expired') return 'Nobody answered in time; it counts as a no.';
  return why === 'stopped' ? 'Closed, because the turn was stopped.' : 'Closed, because you said something else.';
}

function Took({ call }: { call: Call }) {
  if (call.state === 'running' && call.startedAt !== null) return <Elapsed since={call.startedAt} />;
  return call.millis >= 100 ? <span className="meta">{duration(call.millis)}</span> : null;
}

function Elapsed({ since }: { since: number }) {
  const now = useNow(1000);
  const seconds = Math.floor((now - since) / 1000);
  return seconds >= 1 ? <span className="meta">{duration(seconds * 1000)}</span> : null;
}

const tail = (text: string, lines: number) => text.trimEnd().split('\n').slice(-lines).join('\n');

/** What is worth seeing without opening the row: why it failed, how a command ended, pictures, the list of tasks. */
function Brief({ call }: { call: Call }) {
  const output = call.output;
  if (!output) return null;
  if (output.display?.type === 'todo') return <Todo items={output.display.items} />;
  // How it ended stands there already.
  const said = call.ask?.answer?.answer.type === 'reject' || Boolean(call.ask?.withdrawn);
  const failed = endedBadly(call) || call.state === 'failed' || call.state === 'invalid' || (call.state === 'denied' && !said);
  return (
    <>
      {failed && output.text.trim() ? <pre className="output" tabIndex={0} aria-label="Error">{tail(output.text, 6)}</pre> : null}
      <Pictures images={output.images} />
    </>
  );
}

export function Todo({ items }: { items: SessionView['todo'] }) {
  return (
    <ul className="todo">
      {items.map((item, index) => <li key={index} data-state={item.state}><span className="hidden-text">{item.state}: </span><Sentence text={item.text} /></li>)}
    </ul>
  );
}

/** What is shown by itself is the diff alone; the rest is one click away. */
function Whole({ call, onMore }: { call: Call; onMore: (() => void) | null }) {
  const { session, trace } = useDoing();
  const [whole, setWhole] = useState<string | null>(null);
  const output = call.output;
  const display = output?.display;
  const load = () => {
    api.text(`sessions/${session}/outputs/${encodeURIComponent(call.id)}`).then(setWhole, toast.problem);
  };
  return (
    <div className="whole">
      {display?.type === 'diff' ? <Diff text={display.diff} path={display.path} heads={false} /> : null}
      {display?.type === 'todo' ? <Todo items={display.items} /> : null}
      {display?.type === 'command' ? (
        <div className="command"><code>{display.command}</code>{display.exit_code !== null && display.exit_code !== 0 ? <span className="bad meta">exit code {display.exit_code}</span> : null}</div>
      ) : null}
      {output && display?.type !== 'diff' && display?.type !== 'todo' && (whole ?? output.text) ? (
        <pre className="output tall" tabIndex={0} aria-label="Output">{whole ?? output.text}</pre>
      ) : null}
      <Pictures images={output?.images} />
      {onMore ? <button type="button" className="button small details" onClick={onMore}>Details</button> : <div className="row">
        {output?.saved && whole === null ? <button type="button" className="button small" onClick={load}>Show all of it ({bytes(output.saved.bytes)})</button> : null}
        {output?.text ? <CopyButton text={whole ?? output.text} label="Copy output" /> : null}
        <details className="arguments">
          <summary>Arguments</summary>
          <pre className="output" tabIndex={0}>{JSON.stringify(call.input, null, 2)}</pre>
        </details>
        <span className="grow" />
        <button type="button" className="button small" onClick={() => trace(call.seq)}>Show in trace</button>
      </div>}
    </div>
  );
}

function NoteRow({ row }: { row: Extract<Row, { type: 'note' }> }) {
  const [open, setOpen] = useState(false);
  const { item } = row;
  return (
    <div className={`note ${item.tone}`} role={item.tone === 'bad' ? 'alert' : undefined}>
      {item.tone === 'bad' ? <CircleAlert /> : <Info />}
      <div className="grow">
        <Sentence text={item.text} />
        {item.detail ? <> <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? 'Less' : 'More'}</button></> : null}
        {open && item.detail ? <pre className="output" tabIndex={0}>{item.detail}</pre> : null}
      </div>
    </div>
  );
}

const PHASES: Record<string, string> = {
  calling: 'Waiting for the model', tools: 'Working', retrying: 'Waiting to try again', compacting: 'Making room in the conversation', ready: 'Working', idle: 'Working',
};

function Working({ row }: { row: Extract<Row, { type: 'working' }> }) {
  const now = useNow(1000);
  const seconds = Math.floor((now - row.since) / 1000);
  const wait = row.retryAt === null ? null : Math.max(0, Math.ceil((row.retryAt - now) / 1000));
  return (
    <div className="step working" role="status">
      <span className="dot running" />
      <span>{row.notice ?? PHASES[row.phase]}{wait !== null ? ` · ${wait} s` : seconds >= 2 ? ` · ${duration(seconds * 1000)}` : ''}</span>
    </div>
  );
}

/** Whether only another key or model helps. */
const needsModel = (end: EndReason) =>
  end.reason === 'model_failed' && ['auth', 'forbidden', 'quota', 'not_found', 'config'].includes(end.failure.kind);

function End({ row }: { row: Extract<Row, { type: 'end' }> }) {
  const { fork, undo, goOn, trace } = useDoing();
  const { turn, last } = row;
  const text = turn.items.flatMap((item) => (item.kind === 'text' ? [item.text] : [])).join('\n\n');
  const count = turn.files.length + turn.moreFiles;
  const added = turn.files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const removed = turn.files.reduce((sum, file) => sum + (file.removed ?? 0), 0);
  const spent = [turn.endedAt ? duration(turn.endedAt - turn.startedAt) : null, turn.cost > 0 ? dollars(turn.cost / 1e9) : null].filter(Boolean).join(' · ');
  return (
    <div className="turn-end">
      {last && turn.end && needsModel(turn.end) ? <Link to="/settings/$page" params={{ page: 'models' }} className="button primary small">Open models and keys</Link> : null}
      {last && turn.end && canGoOn(turn.end) ? <button type="button" className={needsModel(turn.end) ? 'button small' : 'button primary small'} onClick={goOn}><RotateCcw /> Go on</button> : null}
      {count > 0 ? <span className="meta">{turn.undone ? 'Taken back: ' : ''}{counted(count, 'file')} changed <Counts added={added} removed={removed} /></span> : null}
      <span className="turn-actions">
        {row.canUndo ? <button type="button" className="icon-button" title="Undo the files of this turn" aria-label="Undo the files of this turn" onClick={undo}><Undo2 /></button> : null}
        {text ? <CopyButton text={text} label="Copy answer" /> : null}
        <button type="button" className="icon-button" title="Fork after this turn" aria-label="Fork after this turn" onClick={() => fork(turn.lastSeq)}><GitFork /></button>
        <button type="button" className="icon-button" title="Show in trace" aria-label="Show in trace" onClick={() => trace(turn.seq)}><ListTree /></button>
        <span className="meta">{spent}</span>
      </span>
    </div>
  );
}

