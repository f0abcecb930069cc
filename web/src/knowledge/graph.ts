/** Where the boxes and lines of a neighbourhood go: what leads here on the left, what it leads to on the right; one under the other where it is narrow. */
import type { Neighbour } from './knowledge';

export interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  title: string;
  under: string;
  side: 'before' | 'here' | 'after';
  neighbour: Neighbour | null;
}
export interface Line {
  id: string;
  path: string;
  unsure: boolean;
}
export interface Drawing {
  width: number;
  height: number;
  boxes: Box[];
  lines: Line[];
  /** How many are not drawn, on each side. */
  hidden: { before: number; after: number };
}

export const BOX_HEIGHT = 40;
const GAP = 8;
const MOST_ROWS = 7;
/** Narrower than this, three columns cannot be read. */
const WIDE = 620;
/** A letter of the titles, at most. */
const LETTER = 7.4;

export function shortened(text: string, width: number): string {
  const most = Math.max(4, Math.floor((width - 20) / LETTER));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

const shownName = (one: { name: string; context: string; path: string }) => one.name || one.context.split(' > ').pop() || one.path.split('/').pop() || one.path;

export function draw(here: { name: string; context: string; path: string; kind: string }, before: Neighbour[], after: Neighbour[], width: number): Drawing {
  const shown = { before: before.slice(0, MOST_ROWS), after: after.slice(0, MOST_ROWS) };
  const hidden = { before: before.length - shown.before.length, after: after.length - shown.after.length };
  const step = BOX_HEIGHT + GAP;
  const boxes: Box[] = [];
  const lines: Line[] = [];
  const box = (neighbour: Neighbour, side: 'before' | 'after', index: number, x: number, y: number, wide: number) => {
    const id = `${side}-${index}`;
    boxes.push({ id, x, y, width: wide, title: shortened(shownName(neighbour), wide), under: shortened(`${neighbour.edge ?? ''} · ${neighbour.path.split('/').pop() ?? ''}:${neighbour.line}`, wide + 24), side, neighbour });
    return { id, unsure: neighbour.confidence < 0.99 };
  };
  if (width >= WIDE) {
    const column = Math.floor((width - 2 * 56) / 3);
    const rows = Math.max(shown.before.length, shown.after.length, 1);
    const height = rows * step - GAP;
    const middle = { x: column + 56, y: (height - BOX_HEIGHT) / 2 };
    boxes.push({ id: 'here', ...middle, width: column, title: shortened(shownName(here), column), under: shortened(`${here.kind} · ${here.path.split('/').pop() ?? ''}`, column + 24), side: 'here', neighbour: null });
    for (const side of ['before', 'after'] as const) {
      const offset = (height - (shown[side].length * step - GAP)) / 2;
      shown[side].forEach((neighbour, index) => {
        const [x, y] = [side === 'before' ? 0 : 2 * (column + 56), offset + index * step];
        const made = box(neighbour, side, index, x, y, column);
        const [from, to] = side === 'before' ? [x + column, middle.x] : [middle.x + column, x];
        const [start, end] = side === 'before' ? [y, middle.y] : [middle.y, y];
        const half = BOX_HEIGHT / 2;
        const bend = (from + to) / 2;
        lines.push({ ...made, path: `M ${from} ${start + half} C ${bend} ${start + half}, ${bend} ${end + half}, ${to} ${end + half}` });
      });
    }
    return { width, height, boxes, lines, hidden };
  }
  const inset = 24;
  const wide = Math.max(120, width - inset);
  const top = shown.before.length * step;
  boxes.push({ id: 'here', x: 0, y: top, width: wide, title: shortened(shownName(here), wide), under: shortened(`${here.kind} · ${here.path.split('/').pop() ?? ''}`, wide), side: 'here', neighbour: null });
  shown.before.forEach((neighbour, index) => {
    const made = box(neighbour, 'before', index, inset, index * step, wide);
    lines.push({ ...made, path: `M ${inset} ${index * step + BOX_HEIGHT / 2} H ${inset / 2} V ${top}` });
  });
  shown.after.forEach((neighbour, index) => {
    const y = top + (index + 1) * step;
    const made = box(neighbour, 'after', index, inset, y, wide);
    lines.push({ ...made, path: `M ${inset / 2} ${top + BOX_HEIGHT} V ${y + BOX_HEIGHT / 2} H ${inset}` });
  });
  return { width: Math.max(width, wide + inset), height: top + (shown.after.length + 1) * step - GAP, boxes, lines, hidden };
}
