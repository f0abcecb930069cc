/** A hit where it stands: the lines around it, its own marked, and what it is linked with. */
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { explain } from '../api/client';
import { CopyButton } from '../markdown/CodeBlock';
import { highlight, languageOf, type Painted } from '../markdown/highlight';
import { useTheme } from '../theme/useTheme';
import { Neighbourhood } from './Neighbourhood';
import { placeText, usePassage, type KnowledgeHit, type Place } from './knowledge';

/** Why a hit ranked where it did. */
export function why(hit: Pick<KnowledgeHit, 'score' | 'parts'>): string {
  const { text, vector, name, graph } = hit.parts;
  const parts = ([['words', text], ['meaning', vector], ['name', name], ['links', graph]] as const).filter(([, part]) => part >= 0.005);
  return `Score ${hit.score.toFixed(2)}${parts.length > 0 ? `: ${parts.map(([what, part]) => `${what} ${part.toFixed(2)}`).join(', ')}` : ''}`;
}

export function Preview({ place, hit, workspace, onGo }: { place: Place; hit: KnowledgeHit | undefined; workspace: string; onGo: (place: Place) => void }) {
  const passage = usePassage(place, workspace);
  const { dark } = useTheme();
  const [painted, setPainted] = useState<{ code: string; lines: Painted } | null>(null);
  const marked = useRef<HTMLTableRowElement>(null);
  const data = passage.data?.path === place.path ? passage.data : undefined;
  const code = data?.lines.join('\n') ?? '';
  useEffect(() => {
    let current = true;
    if (data?.numbered) void highlight(code, languageOf(data.path), dark).then((lines) => current && setPainted(lines ? { code, lines } : null));
    return () => { current = false; };
  }, [code, data, dark]);
  useEffect(() => {
    // Newer browsers return a promise, which is no way to clean up.
    void marked.current?.scrollIntoView({ block: 'center' });
  }, [data, place.line]);
  const session = place.path.startsWith('session:') ? place.path.slice('session:'.length) : null;
  const last = Math.max(place.line, hit?.end_line ?? place.line);
  const isHit = (number: number) => number >= place.line && number <= last;
  return (
    <article className="preview" aria-label={`Preview of ${placeText(place)}`}>
      <header className="preview-head">
        <h2 className="cut mono" title={placeText(place)}>{placeText(place)}</h2>
        {session ? <Link to="/s/$id" params={{ id: session }} className="button small">Open the session</Link> : null}
        <CopyButton text={placeText(place)} label="Copy the place" />
      </header>
      {hit ? <p className="meta">{hit.kind}{hit.context ? ` in ${hit.context}` : ''} · trust {hit.trust} · freshness {Math.round(hit.freshness * 100)}%{hit.warning ? ` · ${hit.warning}` : ''}</p> : null}
      {hit ? <p className="meta">{why(hit)}</p> : null}
      {passage.isError ? <p role="alert">{explain(passage.error).message}</p> : null}
      {passage.isPending ? <p className="muted" role="status">Opening…</p> : null}
      {data && !data.numbered ? <div className="prose-lines" tabIndex={0}>{data.lines.map((line, index) => <p key={index}>{line}</p>)}</div> : null}
      {data?.numbered ? (
        <div className="passage" tabIndex={0} role="region" aria-label="The lines around it">
          <table>
            <tbody>
              {data.lines.map((line, index) => {
                const number = data.first + index;
                const pieces = painted?.code === code ? painted.lines[index] : undefined;
                return (
                  <tr key={number} ref={number === place.line ? marked : undefined} className={isHit(number) ? 'hit' : ''}>
                    <td className="number" aria-hidden="true">{number}</td>
                    <td className="words">{pieces ? pieces.map((piece, at) => <span key={at} style={{ color: piece.color }}>{piece.content}</span>) : line}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      ) : null}
      <Neighbourhood place={place} workspace={workspace} onGo={onGo} />
    </article>
  );
}
