/** A diff: unified, split where there is room and the person wants it, word marks, each file folds. */
import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useEffect, useMemo, useState, type ReactNode } from 'react';
import { highlight, languageOf, type Painted } from '../markdown/highlight';
import { useTheme } from '../theme/useTheme';
import { coloured, parseDiff, type DiffLine, type FileDiff, type Piece } from './diff';

/** More lines than this are shown on request. */
const FIRST_LINES = 120;

export const Diff = memo(function Diff({ text, path = '', split = false, heads = true, action }: {
  text: string; path?: string; split?: boolean; heads?: boolean; action?: (path: string) => ReactNode;
}) {
  const files = useMemo(() => parseDiff(text, path), [text, path]);
  if (files.length === 0) return <p className="meta">No difference.</p>;
  return <div className="diff">{files.map((file, index) => <OneFile key={index} file={file} split={split} head={heads} action={action} />)}</div>;
});

/** The colours of a file's lines, when they are there. A hunk is a part of a file, so they are a guess, as everywhere. */
function usePainted(file: FileDiff): Painted | null {
  const { dark } = useTheme();
  const [painted, setPainted] = useState<{ file: FileDiff; lines: Painted } | null>(null);
  useEffect(() => {
    const language = languageOf(file.path);
    if (!language || file.lines.length > 2_000) return;
    let current = true;
    const code = file.lines.map((line) => line.pieces.map((piece) => piece.text).join('')).join('\n');
    void highlight(code, language, dark).then((lines) => {
      if (current && lines) setPainted({ file, lines });
    });
    return () => {
      current = false;
    };
  }, [file, dark]);
  return painted?.file === file ? painted.lines : null;
}

function OneFile({ file, split, head, action }: { file: FileDiff; split: boolean; head: boolean; action?: (path: string) => ReactNode }) {
  const [open, setOpen] = useState(true);
  const [all, setAll] = useState(false);
  const painted = usePainted(file);
  const lines = useMemo(() => {
    const whole = painted ? file.lines.map((line, index) => ({ ...line, pieces: coloured(line.pieces, painted[index]) })) : file.lines;
    return all ? whole : whole.slice(0, FIRST_LINES);
  }, [file, painted, all]);
  return (
    <section className="diff-file" aria-label={file.path || 'Changes'}>
      {head ? (
        <header>
          <button type="button" className="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? <ChevronDown /> : <ChevronRight />}
            <code className="cut">{file.path || 'Changes'}</code>
            <Counts added={file.added} removed={file.removed} />
          </button>
          {action?.(file.path)}
        </header>
      ) : null}
      {open ? (
        <div className="diff-body" tabIndex={0} role="group" aria-label={`Lines of ${file.path || 'the change'}`}>
          {split ? <Split lines={lines} /> : <Unified lines={lines} />}
          {file.lines.length > lines.length ? (
            <button type="button" className="button small more" onClick={() => setAll(true)}>Show {file.lines.length - lines.length} more lines</button>
          ) : null}
        </div>
      ) : null}
    </section>
  );
}

export function Counts({ added, removed }: { added?: number | null; removed?: number | null }) {
  return (
    <span className="counts">
      {added ? <span className="good">+{added}</span> : null}
      {removed ? <span className="bad">−{removed}</span> : null}
    </span>
  );
}

const SIGNS = { added: '+', removed: '−', context: ' ', hunk: '', note: '' };

function words(pieces: (Piece & { color?: string })[]) {
  return pieces.map((piece, index) => {
    const style = piece.color ? { color: piece.color } : undefined;
    return piece.marked ? <b key={index} style={style}>{piece.text}</b> : <span key={index} style={style}>{piece.text}</span>;
  });
}

function Unified({ lines }: { lines: DiffLine[] }) {
  return (
    <div className="lines">
      {lines.map((line, index) => (
        <div key={index} className={`line ${line.kind}`}>
          <span className="number" aria-hidden>{line.after ?? line.before ?? ''}</span>
          <span className="sign">{SIGNS[line.kind]}</span>
          <code>{words(line.pieces)}</code>
        </div>
      ))}
    </div>
  );
}

function Split({ lines }: { lines: DiffLine[] }) {
  const rows: [DiffLine | null, DiffLine | null][] = [];
  let waiting: DiffLine[] = [];
  const settle = () => {
    for (const line of waiting) rows.push([line, null]);
    waiting = [];
  };
  for (const line of lines) {
    if (line.kind === 'removed') waiting.push(line);
    else if (line.kind === 'added') rows.push([waiting.shift() ?? null, line]);
    else {
      settle();
      rows.push([line, line]);
    }
  }
  settle();
  const side = (line: DiffLine | null, number: number | null | undefined) => (
    <div className={`line ${line?.kind ?? 'blank'}`}>
      <span className="number" aria-hidden>{number ?? ''}</span>
      <code>{line ? words(line.pieces) : ''}</code>
    </div>
  );
  return (
    <div className="lines split">
      {rows.map(([left, right], index) => (
        <div key={index} className="pair">{side(left, left?.before)}{side(right, right?.after)}</div>
      ))}
    </div>
  );
}
