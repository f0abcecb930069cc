/** Markdown as blocks, and as the words that are left of it when it is drawn. Pure. */
import { lexer, type Token } from 'marked';

/** Longer than this it is shown as plain text: nobody reads it, and parsing would hold up the page. */
export const LONGEST = 400_000;

export interface Cut {
  text: string;
  /** The source of each top-level block, and where it begins in `text`. */
  blocks: string[];
  starts: number[];
}

/** Cuts a text into blocks. Where it only grew, all but the last two blocks stand, and only the rest is read again. */
export function cutBlocks(source: string, before: Cut | null = null): Cut {
  const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
  const grew = before !== null && before.blocks.length > 2 && text.startsWith(before.text);
  const keep = grew ? before.blocks.length - 2 : 0;
  const cut: Cut = { text, blocks: grew ? before.blocks.slice(0, keep) : [], starts: grew ? before.starts.slice(0, keep) : [] };
  let at = grew ? (before.starts[keep] ?? 0) : 0;
  /** How many `<details>` are open: what stands between their lines is one block with them. */
  let open = 0;
  for (const token of lexer(text.slice(at))) {
    if (open > 0) cut.blocks.push((cut.blocks.pop() ?? '') + token.raw);
    else if (token.type !== 'space' && token.type !== 'def') {
      cut.blocks.push(token.raw);
      cut.starts.push(at);
    }
    if (token.type === 'html') open = Math.max(0, open + count(token.raw, OPENS) - count(token.raw, CLOSES));
    at += token.raw.length;
  }
  return cut;
}

const OPENS = /<details(?:\s+open)?>/gi;
const CLOSES = /<\/details>/gi;
const count = (text: string, wanted: RegExp) => text.match(wanted)?.length ?? 0;
const FOLDED = /^\s*<details(?:\s+open)?>\s*<summary>([^]*?)<\/summary>([^]*?)(?:<\/details>\s*)?$/i;

/** The one piece of HTML that means something: what can be folded away. Its inside is Markdown like any other. */
export function folded(raw: string): { title: string; inside: string } | null {
  const found = FOLDED.exec(raw);
  return found ? { title: unescapeHtml((found[1] ?? '').replace(/<\/?(?:b|strong|i|em|code)>/gi, '').trim()), inside: found[2] ?? '' } : null;
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
export function unescapeHtml(text: string): string {
  return text.includes('&') ? text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity) : text;
}

/** Between two blocks: no words go on from one into the next. */
export const APART = '\0';

/** The words of a text as they are drawn: without stars, addresses of links and the like. */
export function shownText(text: string): string {
  if (text.length > LONGEST) return text;
  return cutBlocks(text).blocks.map(blockWords).join(APART);
}

function blockWords(raw: string): string {
  const fold = folded(raw);
  return fold ? [fold.title, ...cutBlocks(fold.inside).blocks.map(blockWords)].join(APART) : lexer(raw).map(words).join(APART);
}

function words(token: Token): string {
  const { tokens, items, header, rows, text, raw, type } = token as Token & Record<'tokens' | 'items' | 'header', Token[] | undefined> & { rows?: Token[][]; text?: string };
  if (header && rows) return [header, ...rows].map((row) => row.map(words).join(APART)).join(APART);
  if (items) return items.map(words).join(APART);
  switch (type) {
    case 'br':
      return '\n';
    case 'space':
    case 'def':
    case 'hr':
    case 'checkbox':
      return '';
    case 'code':
    case 'image':
      return text ?? '';
    case 'html':
      return raw;
    default:
      if (tokens) return tokens.map(words).join(tokens.some((one) => BLOCKS.has(one.type)) ? APART : '');
      return text === undefined ? raw : unescapeHtml(text);
  }
}
const BLOCKS = new Set(['paragraph', 'list', 'code', 'blockquote', 'heading', 'table', 'space']);
