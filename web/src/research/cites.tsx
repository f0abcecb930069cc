/** Citations in a text as chips: the paragraph on hover and focus, the source beside it on a click. */
import { createContext, useContext, useState, type ReactNode, type SyntheticEvent } from 'react';
import { citedIn, type Paragraph } from '../session/flow';

export interface Cites {
  known: ReadonlyMap<string, Paragraph>;
  /** Their names in running text: `HHS 3.8`. */
  names: RegExp | null;
  open: (id: string) => void;
}
export const CitesContext = createContext<Cites | null>(null);

const BRACKET = /\(([^()]{1,300})\)/g;

/** Finds the names of paragraphs in a text. A bare number may be an amount. */
export function namesOf(known: ReadonlyMap<string, Paragraph>): RegExp | null {
  const names = [...known.keys()].filter((name) => name.includes(' ')).sort((one, other) => other.length - one.length);
  return names.length === 0 ? null : new RegExp(`(?<![\\p{L}\\d])(?:${names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})(?![\\p{L}\\d]|\\.\\d)`, 'gu');
}

/** The text with what it cites as chips and what it names as links; as it is where nothing is known to be cited. */
export function Cited({ text }: { text: string }) {
  const cites = useContext(CitesContext);
  if (!cites) return <>{text}</>;
  const pieces: ReactNode[] = [];
  let from = 0;
  for (const found of text.matchAll(BRACKET)) {
    const paragraphs = citedIn(found[1] ?? '', cites.known);
    if (!paragraphs) continue;
    pieces.push(...named(text.slice(from, found.index).trimEnd(), cites, from), ...paragraphs.map((one, index) => <Chip key={`${found.index}.${index}`} paragraph={one} open={cites.open} />));
    from = found.index + found[0].length;
  }
  pieces.push(...named(text.slice(from), cites, from));
  return <>{pieces}</>;
}

function named(text: string, { known, names, open }: Cites, at: number): ReactNode[] {
  const pieces: ReactNode[] = [];
  let from = 0;
  for (const found of names ? text.matchAll(names) : []) {
    const paragraph = known.get(found[0]);
    if (!paragraph) continue;
    pieces.push(text.slice(from, found.index), <button key={`n${at + found.index}`} type="button" className="cite-name" onClick={() => open(paragraph.id)}>{found[0]}</button>);
    from = found.index + found[0].length;
  }
  return [...pieces, text.slice(from)];
}

/** How wide a preview is at most. */
const PREVIEW = 420;

function Chip({ paragraph, open }: { paragraph: Paragraph; open: (id: string) => void }) {
  const [left, setLeft] = useState<number | undefined>(undefined);
  // Near an edge of the document the preview is moved, so that all of it is seen. On a phone it is as wide as the page.
  const place = (event: SyntheticEvent<HTMLElement>) => {
    const room = event.currentTarget.closest('.document')?.getBoundingClientRect();
    const at = event.currentTarget.getBoundingClientRect().left;
    setLeft(room && window.innerWidth > 600 ? Math.max(room.left - at, Math.min(0, room.right - PREVIEW - at)) : undefined);
  };
  return (
    <span className="cite" onMouseEnter={place} onFocus={place}>
      <button type="button" onClick={() => open(paragraph.id)}>{paragraph.cite}</button>
      <span className="cite-preview" role="tooltip" style={{ left }}>
        <span className="meta">{[paragraph.section, paragraph.page ? `page ${paragraph.page}` : null].filter(Boolean).join(' · ')}</span>
        <span>{paragraph.text.length > 420 ? `${paragraph.text.slice(0, 420)}…` : paragraph.text}</span>
      </span>
    </span>
  );
}
