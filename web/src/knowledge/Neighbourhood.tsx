/** What a symbol or paragraph is linked to, one step each way, as a small picture whose boxes are buttons. */
import { useRef } from 'react';
import { useWidth } from '../shell/useWidth';
import { BOX_HEIGHT, draw } from './graph';
import { placeText, useAround, type Place } from './knowledge';

export function Neighbourhood({ place, workspace, onGo }: { place: Place; workspace: string; onGo: (place: Place) => void }) {
  const around = useAround(place, workspace);
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const here = around.data?.meant[0];
  const linked = (around.data?.before.length ?? 0) + (around.data?.after.length ?? 0);
  const drawing = here && width > 0 ? draw(here, around.data?.before ?? [], around.data?.after ?? [], width) : null;
  const more = drawing ? { before: drawing.hidden.before + (around.data?.more_before ?? 0), after: drawing.hidden.after + (around.data?.more_after ?? 0) } : null;
  return (
    <section className="neighbourhood" aria-label="Neighbourhood" aria-busy={around.isFetching}>
      <h2>Linked with</h2>
      <div ref={frame}>
        {around.isPending ? <p className="muted" role="status">Looking…</p> : null}
        {around.isError || (around.data && linked === 0) ? <p className="muted">Nothing that is known here leads to it, and it leads to nothing.</p> : null}
        {drawing && linked > 0 ? (
          <svg width={drawing.width} height={drawing.height} viewBox={`0 0 ${drawing.width} ${drawing.height}`} role="group" aria-label={`What ${here?.name || 'this'} is linked with`}>
            {drawing.lines.map((line) => <path key={line.id} d={line.path} className={line.unsure ? 'line unsure' : 'line'} />)}
            {drawing.boxes.map((box) => {
              const target = box.neighbour ? { path: box.neighbour.path, line: box.neighbour.line } : null;
              const go = () => target && onGo(target);
              const told = box.neighbour ? `${box.side === 'before' ? `${box.neighbour.name || box.neighbour.path} ${box.neighbour.edge ?? 'leads to'} this` : `This ${box.neighbour.edge ?? 'leads to'} ${box.neighbour.name || box.neighbour.path}`}, ${placeText(box.neighbour)}` : undefined;
              return (
                <g key={box.id} className={`box ${box.side}`} transform={`translate(${box.x} ${box.y})`} {...(target ? { role: 'button', tabIndex: 0, 'aria-label': `${told} ${box.title} ${box.under}`, onClick: go, onKeyDown: (event: React.KeyboardEvent) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); go(); } } } : {})}>
                  {told ? <title>{`${told} `}</title> : null}
                  <rect width={box.width} height={BOX_HEIGHT} rx={6} />
                  <text x={10} y={17} className="title">{box.title}</text>
                  {' '}
                  <text x={10} y={32} className="under">{box.under}</text>
                </g>
              );
            })}
          </svg>
        ) : null}
        {more && more.before + more.after > 0 ? <p className="meta">{[more.before > 0 ? `${more.before} more lead here` : '', more.after > 0 ? `${more.after} more are led to` : ''].filter(Boolean).join(' · ')}</p> : null}
      </div>
    </section>
  );
}
