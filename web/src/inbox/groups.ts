/** The list of sessions in the order a person needs: what waits, what runs, today, earlier. Pure. */
import type { SessionRow } from '../api/types';

export type ListRow = { type: 'heading'; key: string; title: string; count: number } | { type: 'session'; key: string; row: SessionRow };

export function grouped(rows: readonly SessionRow[], now: number): ListRow[] {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const groups: [string, SessionRow[]][] = [['Waiting', []], ['Running', []], ['Today', []], ['Earlier', []]];
  const seen = new Set<string>();
  const sorted = [...rows].sort((a, b) => b.updated_at - a.updated_at || (a.id < b.id ? -1 : 1));
  for (const row of sorted) {
    if (seen.has(row.id)) continue;
    seen.add(row.id);
    const place = row.asks_open > 0 ? 0 : row.status === 'running' ? 1 : row.updated_at >= midnight.getTime() ? 2 : 3;
    groups[place]?.[1].push(row);
  }
  return groups.flatMap(([title, members]) =>
    members.length === 0
      ? []
      : [
          { type: 'heading' as const, key: title, title, count: members.length },
          ...members.map((row) => ({ type: 'session' as const, key: row.id, row })),
        ],
  );
}

export function nameOf(row: { title: string | null; preview?: string | null }): string {
  return row.title || row.preview || 'New session';
}

export const folderName = (path: string) => path.split('/').filter(Boolean).pop() ?? path;
