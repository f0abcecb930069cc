/**
 * Markdown as React elements. HTML in it is shown as the text that it is, but for what can be folded away, so nothing
 * that a model, a file or a tool writes can become markup; links lead only to the web, to mail and within the page, images only
 * where they are data. A text is cut into blocks, and a block that did not change is not drawn again.
 */
import { lexer, type Token, type Tokens } from 'marked';
import { createElement, memo, useMemo, useRef, type ReactNode } from 'react';
import { Cited } from '../research/cites';
import { cutBlocks, folded, LONGEST, unescapeHtml, type Cut } from './blocks';
import { CodeBlock } from './CodeBlock';
import { Formula } from './Formula';

export const Markdown = memo(function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const before = useRef<Cut | null>(null);
  const cut = useMemo(() => {
    before.current = text.length > LONGEST ? null : cutBlocks(text, before.current);
    return before.current;
  }, [text]);
  if (!cut) return <pre className="plain">{text}</pre>;
  return (
    <div className="prose">
      {cut.blocks.map((block, index) => (
        <Block key={index} raw={block} streaming={streaming && index === cut.blocks.length - 1} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ raw, streaming }: { raw: string; streaming: boolean }) {
  const fold = folded(raw);
  if (fold) return <details className="folded"><summary>{fold.title}</summary>{cutBlocks(fold.inside).blocks.map((inner, index) => <Block key={index} raw={inner} streaming={streaming} />)}</details>;
  return <>{lexer(raw).map((token, index) => block(token, index, streaming))}</>;
});

function block(token: Token, key: number, streaming: boolean): ReactNode {
  switch (token.type) {
    case 'heading': {
      const depth = Math.min(6, (token as Tokens.Heading).depth + 2);
      return createElement(`h${depth}`, { key }, inlines((token as Tokens.Heading).tokens));
    }
    case 'paragraph':
      return <p key={key}>{math((token as Tokens.Paragraph).tokens)}</p>;
    case 'text': {
      const { tokens, text } = token as Tokens.Text;
      return <span key={key}>{tokens ? inlines(tokens) : text}</span>;
    }
    case 'code': {
      const { text, lang } = token as Tokens.Code;
      return <CodeBlock key={key} code={text} language={(lang ?? '').split(/\s/)[0] ?? ''} streaming={streaming} />;
    }
    case 'blockquote':
      return <blockquote key={key}>{(token as Tokens.Blockquote).tokens.map((inner, index) => block(inner, index, streaming))}</blockquote>;
    case 'list':
      return list(token as Tokens.List, key, streaming);
    case 'table':
      return table(token as Tokens.Table, key);
    case 'hr':
      return <hr key={key} />;
    case 'space':
    case 'def':
      return null;
    default:
      return <p key={key} className="as-text">{token.raw}</p>;
  }
}

function list(token: Tokens.List, key: number, streaming: boolean): ReactNode {
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      {item.task ? <input type="checkbox" checked={item.checked ?? false} disabled readOnly aria-label={item.checked ? 'Done' : 'Open'} /> : null}
      {item.tokens.map((inner, place) => (inner.type === 'checkbox' ? null : block(inner, place, streaming)))}
    </li>
  ));
  return token.ordered ? <ol key={key} start={Number(token.start) || 1}>{items}</ol> : <ul key={key}>{items}</ul>;
}

function table(token: Tokens.Table, key: number): ReactNode {
  const cell = (inner: Tokens.TableCell, index: number, tag: 'td' | 'th') =>
    createElement(tag, { key: index, style: { textAlign: inner.align ?? undefined } }, inlines(inner.tokens));
  return (
    <div key={key} className="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead><tr>{token.header.map((inner, index) => cell(inner, index, 'th'))}</tr></thead>
        <tbody>{token.rows.map((row, index) => <tr key={index}>{row.map((inner, place) => cell(inner, place, 'td'))}</tr>)}</tbody>
      </table>
    </div>
  );
}

const BLOCK_FORMULA = /^\s*(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])\s*$/;

/** A paragraph that is nothing but a formula is drawn as one. */
function math(tokens: Token[]): ReactNode {
  const whole = tokens.map((token) => token.raw).join('');
  const found = BLOCK_FORMULA.exec(whole);
  if (found) return <Formula source={found[1] ?? found[2] ?? ''} block />;
  return inlines(tokens);
}

function inlines(tokens: Token[] | undefined): ReactNode[] {
  return (tokens ?? []).map((token, key) => inline(token, key));
}

function inline(token: Token, key: number): ReactNode {
  switch (token.type) {
    case 'text':
    case 'escape': {
      const { tokens, text } = token as Tokens.Text;
      return tokens ? <span key={key}>{inlines(tokens)}</span> : formulas(unescapeHtml(text), key);
    }
    case 'strong':
      return <strong key={key}>{inlines((token as Tokens.Strong).tokens)}</strong>;
    case 'em':
      return <em key={key}>{inlines((token as Tokens.Em).tokens)}</em>;
    case 'del':
      return <del key={key}>{inlines((token as Tokens.Del).tokens)}</del>;
    case 'codespan':
      return <code key={key}>{unescapeHtml((token as Tokens.Codespan).text)}</code>;
    case 'br':
      return <br key={key} />;
    case 'checkbox':
      // Drawn by its item.
      return null;
    case 'link': {
      const { href, tokens } = token as Tokens.Link;
      const to = safeLink(href);
      if (!to) return <span key={key}>{inlines(tokens)}</span>;
      return <a key={key} href={to} target="_blank" rel="noreferrer noopener">{inlines(tokens)}</a>;
    }
    case 'image': {
      const { href, text } = token as Tokens.Image;
      // An address outside would be a request that nobody asked for; it is offered as a link.
      if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(href)) return <img key={key} src={href} alt={text} />;
      const to = safeLink(href);
      return to ? <a key={key} href={to} target="_blank" rel="noreferrer noopener">{text || 'Image'}</a> : <span key={key}>{text}</span>;
    }
    default:
      return <span key={key}>{token.raw}</span>;
  }
}

/** `$x$` with no space inside the dollars, so that prices stay prices. */
const INLINE_FORMULA = /\$(?=\S)((?:[^$\\]|\\.)*?\S)\$(?!\d)|\\\((.+?)\\\)/g;

function formulas(text: string, key: number): ReactNode {
  if (!text.includes('$') && !text.includes('\\(')) return <Cited key={key} text={text} />;
  const pieces: ReactNode[] = [];
  let from = 0;
  for (const found of text.matchAll(INLINE_FORMULA)) {
    const source = found[1] ?? found[2] ?? '';
    if (!/[\\^_={}]|^[a-zA-Z]$/.test(source)) continue;
    pieces.push(<Cited key={`c${from}`} text={text.slice(from, found.index)} />, <Formula key={found.index} source={source} />);
    from = found.index + found[0].length;
  }
  if (from === 0) return <Cited key={key} text={text} />;
  pieces.push(<Cited key="rest" text={text.slice(from)} />);
  return <span key={key}>{pieces}</span>;
}

export function safeLink(href: string): string | null {
  const trimmed = href.trim();
  if (trimmed.startsWith('#')) return trimmed;
  try {
    const url = new URL(trimmed);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
