/** A unified diff as files, hunks and lines, with the words that differ marked. Pure; anything it cannot read stays text. */

export interface Piece {
  text: string;
  marked: boolean;
}
export interface DiffLine {
  kind: 'context' | 'added' | 'removed' | 'hunk' | 'note';
  before: number | null;
  after: number | null;
  pieces: Piece[];
}
export interface FileDiff {
  path: string;
  lines: DiffLine[];
  added: number;
  removed: number;
}

const plain = (text: string): Piece[] => [{ text, marked: false }];

export function parseDiff(text: string, fallbackPath = ''): FileDiff[] {
  const files: FileDiff[] = [];
  let file: FileDiff | null = null;
  let before = 0;
  let after = 0;
  // Lines that the hunk still owes; outside of it `---` and `+++` are headers.
  let left = 0;
  let right = 0;
  const open = (path: string) => {
    file = { path, lines: [], added: 0, removed: 0 };
    files.push(file);
    return file;
  };
  for (const line of text.split('\n')) {
    if (left <= 0 && right <= 0) {
      const git = /^diff --\w+ a\/(.+) b\/(.+)$/.exec(line);
      if (git) {
        open(git[2] ?? fallbackPath);
        continue;
      }
      if (line.startsWith('--- ')) {
        const current = files.at(-1);
        const path = cleanPath(line.slice(4));
        if (!current || current.lines.length > 0) open(path || fallbackPath);
        continue;
      }
      if (line.startsWith('+++ ')) {
        const path = cleanPath(line.slice(4));
        const current = files.at(-1);
        if (current && path) current.path = path;
        continue;
      }
      if (/^(index |new file mode|deleted file mode|similarity|rename |old mode|new mode)/.test(line)) continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(line);
    if (hunk) {
      file ??= open(fallbackPath);
      before = Number(hunk[1]);
      after = Number(hunk[3]);
      left = Number(hunk[2] ?? 1);
      right = Number(hunk[4] ?? 1);
      file.lines.push({ kind: 'hunk', before: null, after: null, pieces: plain((hunk[5] ?? '').trim()) });
      continue;
    }
    if (!file) {
      if (line.trim() === '') continue;
      file = open(fallbackPath);
    }
    const current: FileDiff = file;
    const mark = line[0];
    if (mark === '+') {
      current.lines.push({ kind: 'added', before: null, after: after++, pieces: plain(line.slice(1)) });
      current.added += 1;
      right -= 1;
    } else if (mark === '-') {
      current.lines.push({ kind: 'removed', before: before++, after: null, pieces: plain(line.slice(1)) });
      current.removed += 1;
      left -= 1;
    } else if (mark === ' ') {
      current.lines.push({ kind: 'context', before: before++, after: after++, pieces: plain(line.slice(1)) });
      left -= 1;
      right -= 1;
    } else if (line !== '') {
      current.lines.push({ kind: 'note', before: null, after: null, pieces: plain(line.replace(/^\\ /, '')) });
    }
  }
  for (const one of files) markWords(one.lines);
  return files;
}

/** A line's pieces cut again where its colours change. */
export function coloured(pieces: readonly Piece[], colours: readonly { content: string; color?: string }[] | undefined): (Piece & { color?: string })[] {
  if (!colours || colours.map((colour) => colour.content).join('') !== pieces.map((piece) => piece.text).join('')) return [...pieces];
  const cut: (Piece & { color?: string })[] = [];
  const left = colours.map((colour) => ({ ...colour }));
  for (const piece of pieces) {
    let rest = piece.text;
    while (rest !== '') {
      const next = left[0];
      if (!next) break;
      const text = rest.slice(0, next.content.length);
      if (text !== '') cut.push({ text, marked: piece.marked, color: next.color });
      rest = rest.slice(text.length);
      next.content = next.content.slice(text.length);
      if (next.content === '') left.shift();
    }
  }
  return cut;
}

function cleanPath(raw: string): string {
  const path = raw.split('\t')[0] ?? raw;
  if (path === '/dev/null') return '';
  return path.replace(/^[ab]\//, '');
}

/** Marks what differs between lines that were removed and those that came in their place. */
function markWords(lines: DiffLine[]) {
  let index = 0;
  while (index < lines.length) {
    if (lines[index]?.kind !== 'removed') {
      index += 1;
      continue;
    }
    let middle = index;
    while (lines[middle]?.kind === 'removed') middle += 1;
    let end = middle;
    while (lines[end]?.kind === 'added') end += 1;
    const count = Math.min(middle - index, end - middle);
    if (count <= 50) {
      for (let offset = 0; offset < count; offset += 1) {
        const removed = lines[index + offset];
        const added = lines[middle + offset];
        if (removed && added) [removed.pieces, added.pieces] = differing(removed.pieces[0]?.text ?? '', added.pieces[0]?.text ?? '');
      }
    }
    index = end;
  }
}

/** The common beginning and end stay plain; the middle is marked. Nothing is marked where little is common. */
function differing(before: string, after: string): [Piece[], Piece[]] {
  const a = before.split(/(\W)/).filter((word) => word !== '');
  const b = after.split(/(\W)/).filter((word) => word !== '');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const common = [...a.slice(0, start), ...a.slice(a.length - end)].join('').trim().length;
  if (common < 3) return [plain(before), plain(after)];
  const cut = (words: string[]): Piece[] =>
    [
      { text: words.slice(0, start).join(''), marked: false },
      { text: words.slice(start, words.length - end).join(''), marked: true },
      { text: words.slice(words.length - end).join(''), marked: false },
    ].filter((piece) => piece.text !== '');
  return [cut(a), cut(b)];
}
