/** The list of sessions in the order a person needs: what waits, what runs, today, earlier. Pure. */
import type { SessionRow } from '../api/types';
import { beginning } from '../session/words';

export type ListRow =
  | { type: 'heading'; key: string; title: string; count: number }
  /** `depth` is above 0 for what another session began; `children` says how many this one did. */
  | { type: 'session'; key: string; row: SessionRow; depth: number; children: number };

const isChild = (row: SessionRow) => row.parent !== null && row.forked_at === null;

/** `open` are the sessions whose children are shown. A child whose parent is not in the list stands for itself. */
export function grouped(rows: readonly SessionRow[], now: number, open: ReadonlySet<string> = new Set()): ListRow[] {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const groups: [string, SessionRow[]][] = [['Waiting', []], ['Running', []], ['Today', []], ['Earlier', []]];
  const seen = new Set<string>();
  const sorted = [...rows].sort((a, b) => b.updated_at - a.updated_at || (a.id < b.id ? -1 : 1));
  const known = new Set(rows.map((row) => row.id));
  const children = new Map<string, SessionRow[]>();
  for (const row of sorted) {
    if (seen.has(row.id)) continue;
    seen.add(row.id);
    if (isChild(row) && row.parent && row.parent !== row.id && known.has(row.parent)) {
      children.set(row.parent, [...(children.get(row.parent) ?? []), row]);
      continue;
    }
    const place = row.asks_open > 0 ? 0 : row.status === 'running' ? 1 : row.updated_at >= midnight.getTime() ? 2 : 3;
    groups[place]?.[1].push(row);
  }
  return groups.flatMap(([title, members]) =>
    members.length === 0
      ? []
      : [
          { type: 'heading' as const, key: title, title, count: members.length },
          ...members.flatMap((row) => nested(row, 0, children, open)),
        ],
  );
}

function nested(row: SessionRow, depth: number, children: ReadonlyMap<string, SessionRow[]>, open: ReadonlySet<string>): ListRow[] {
  const below = children.get(row.id) ?? [];
  const self: ListRow = { type: 'session', key: row.id, row, depth, children: below.length };
  // A log that names its own ancestor as a child would lead in circles.
  return open.has(row.id) && depth < 8 ? [self, ...below.flatMap((child) => nested(child, depth + 1, children, open))] : [self];
}

export interface LabelNode {
  name: string;
  label: string;
  depth: number;
  sessions: number;
}

/** Labels as a tree, parents that nobody carries included; a parent counts what is below it. */
export function labelTree(labels: readonly { name: string; sessions: number }[]): LabelNode[] {
  const nodes = new Map<string, LabelNode>();
  for (const { name, sessions } of labels) {
    const parts = name.split('/');
    parts.forEach((label, depth) => {
      const path = parts.slice(0, depth + 1).join('/');
      const node = nodes.get(path) ?? { name: path, label, depth, sessions: 0 };
      node.sessions += sessions;
      nodes.set(path, node);
    });
  }
  return [...nodes.values()].sort((a, b) => {
    const [one, other] = [a.name.split('/'), b.name.split('/')];
    for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
      const order = (one[index] ?? '').localeCompare(other[index] ?? '');
      if (order !== 0) return order;
    }
    return one.length - other.length;
  });
}

/** The list keeps this much of what was said first, and may cut in the middle of a word. */
const KEPT_LETTERS = 80;

export function nameOf(row: { title: string | null; preview?: string | null }): string {
  return row.title || (row.preview ? beginning(row.preview, KEPT_LETTERS - 1) : 'New session');
}

export const folderName = (path: string) => path.split('/').filter(Boolean).pop() ?? path;
