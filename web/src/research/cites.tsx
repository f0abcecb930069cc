/** Citations in a text as chips: the paragraph on hover and focus, the source beside it on a click. */
import { createContext, useContext, type ReactNode } from 'react';
import { citedIn, type Paragraph } from '../session/flow';

export interface Cites {
  known: ReadonlyMap<string, Paragraph>;
  open: (id: string) => void;
}
export const CitesContext = createContext<Cites | null>(null);

const BRACKET = /\(([^()]{1,300})\)/g;

/** The text with what it cites as chips; as it is where nothing is known to be cited. */
export function Cited({ text }: { text: string }) {
  const cites = useContext(CitesContext);
  if (!cites || !text.includes('(')) return <>{text}</>;
  const pieces: ReactNode[] = [];
  let from = 0;
  for (const found of text.matchAll(BRACKET)) {
    const paragraphs = citedIn(found[1] ?? '', cites.known);
    if (!paragraphs) continue;
    pieces.push(text.slice(from, found.index).trimEnd(), ...paragraphs.map((one, index) => <Chip key={`${found.index}.${index}`} paragraph={one} open={cites.open} />));
    from = found.index + found[0].length;
  }
  if (from === 0) return <>{text}</>;
  pieces.push(text.slice(from));
  return <>{pieces}</>;
}

function Chip({ paragraph, open }: { paragraph: Paragraph; open: (id: string) => void }) {
  return (
    <span className="cite">
      <button type="button" onClick={() => open(paragraph.id)}>{paragraph.cite}</button>
      <span className="cite-preview" role="tooltip">
        <span className="meta">{[paragraph.section, paragraph.page ? `page ${paragraph.page}` : null].filter(Boolean).join(' · ')}</span>
        <span>{paragraph.text.length > 420 ? `${paragraph.text.slice(0, 420)}…` : paragraph.text}</span>
      </span>
    </span>
  );
}
