/** What of a session can be found by its words: everything a row says, also what is folded away in it. Pure. */
import { APART, shownText } from '../markdown/blocks';
import { withoutDetails } from './flow';
import type { Call } from './fold';
import type { Row } from './rows';

/** Words as they are looked for: capitals make no difference, nor does where a line ends. */
function pattern(words: string): RegExp | null {
  const parts = words.trim().split(/\s+/).filter(Boolean);
  return parts.length > 0 ? new RegExp(parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('\\s+'), 'giu') : null;
}

/** As a sentence is drawn, in which pairs of backticks only mark code. */
const sentence = (text: string) => (text.split('`').length % 2 === 1 ? text.replaceAll('`', '') : text);
const ofCall = ({ summary, tool, output, ask }: Call) => [sentence(summary || tool), output?.text ?? '', sentence(ask?.ask.question ?? '')];

function wordsOf(row: Row): string[] {
  switch (row.type) {
    case 'said':
    case 'note':
      return row.type === 'note' ? [sentence(row.item.text)] : [row.item.text, ...(row.item.files ?? []).flatMap((file) => [file.name, file.text])];
    case 'thinking':
      return [row.text];
    case 'text':
    case 'document':
      return [shownText(row.text)];
    case 'pause': {
      const { text, details } = withoutDetails(row.text);
      return [text, ...details.flatMap((one) => [one.title, one.text])].map(shownText);
    }
    case 'group':
      // Open, its calls are rows of their own.
      return row.open ? [] : row.calls.flatMap(ofCall);
    case 'call':
      return [...ofCall(row.call), row.output ?? ''];
    case 'ask':
      return [sentence(row.asked.ask.question)];
    case 'stage':
      return [row.item.title];
    case 'writing':
    case 'working':
    case 'end':
      return [];
  }
}

/** The words of Markdown by its source, so that each text is read once while somebody looks for something. */
export type Read = Map<string, string[]>;

/** The keys of the rows that say this, in their order. */
export function rowsWith(rows: readonly Row[], words: string, read: Read = new Map()): string[] {
  const wanted = pattern(words);
  if (!wanted) return [];
  const says = (row: Row): string[] => {
    if ((row.type !== 'text' || row.streaming) && row.type !== 'document') return wordsOf(row);
    const known = read.get(row.text) ?? wordsOf(row);
    read.set(row.text, known);
    return known;
  };
  return rows.filter((row) => says(row).some((text) => text.search(wanted) >= 0)).map((row) => row.key);
}

const BLOCK = 'p, li, td, th, h1, h2, h3, h4, h5, h6, pre, div, button, summary, figcaption';

/** Where a text is in what is drawn below an element, also where only a part of it is bold or a link. */
export function placesOf(root: Node, words: string): Range[] {
  const wanted = pattern(words);
  if (!wanted) return [];
  const nodes: { node: Text; from: number }[] = [];
  let drawn = '';
  let block: Element | null = null;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!(node instanceof Text)) {
      if (node.nodeName === 'BR') drawn += '\n';
      continue;
    }
    const inside: Element | null = node.parentElement?.closest(BLOCK) ?? null;
    if (inside !== block) drawn += APART;
    block = inside;
    nodes.push({ node, from: drawn.length });
    drawn += node.data;
  }
  let at = 0;
  const found: Range[] = [];
  for (const match of drawn.matchAll(wanted)) {
    const end = match.index + match[0].length;
    while ((nodes[at + 1]?.from ?? Infinity) <= match.index) at += 1;
    let last = at;
    while ((nodes[last + 1]?.from ?? Infinity) < end) last += 1;
    const [first, until] = [nodes[at], nodes[last]];
    if (!first || !until) continue;
    const range = document.createRange();
    range.setStart(first.node, match.index - first.from);
    range.setEnd(until.node, end - until.from);
    found.push(range);
  }
  return found;
}
