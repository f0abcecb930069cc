/** What of a session can be found by its words: everything a row says, also what is folded away in it. Pure. */
import type { Call } from './fold';
import type { Row } from './rows';

const ofCall = ({ summary, tool, output, ask }: Call) => [summary || tool, output?.text ?? '', ask?.ask.question ?? ''];

function wordsOf(row: Row): string[] {
  switch (row.type) {
    case 'said':
    case 'note':
      return [row.item.text];
    case 'text':
    case 'thinking':
    case 'pause':
    case 'document':
      return [row.text];
    case 'group':
      // Open, its calls are rows of their own.
      return row.open ? [] : row.calls.flatMap(ofCall);
    case 'call':
      return [...ofCall(row.call), row.output ?? ''];
    case 'ask':
      return [row.asked.ask.question];
    case 'stage':
      return [row.item.title];
    case 'writing':
    case 'working':
    case 'end':
      return [];
  }
}

/** The keys of the rows that say this, in their order. Capitals make no difference. */
export function rowsWith(rows: readonly Row[], words: string): string[] {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  return rows.filter((row) => wordsOf(row).some((text) => text.toLowerCase().includes(wanted))).map((row) => row.key);
}

/** Where a text is in what is drawn below an element. */
export function placesOf(root: Node, words: string): Range[] {
  const wanted = words.trim().toLowerCase();
  const found: Range[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); wanted && node; node = texts.nextNode()) {
    const drawn = node.nodeValue ?? '';
    const lower = drawn.toLowerCase();
    // A few capitals are longer when small; there only the same letters are marked.
    const text = lower.length === drawn.length ? lower : drawn;
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      found.push(range);
    }
  }
  return found;
}
