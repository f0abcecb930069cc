/** Code with its language, a copy button and colours that come when they are ready. Mermaid becomes a drawing. */
import { Check, Copy } from 'lucide-react';
import { lazy, memo, Suspense, useEffect, useState } from 'react';
import { useTheme } from '../theme/useTheme';
import { highlight, type Painted } from './highlight';

/** Where the code for it cannot be had, as in a tab from before an upgrade, its source is shown. */
const Diagram = lazy(() => import('./Diagram').catch(() => ({ default: ({ source }: { source: string; onSource: () => void }) => <pre className="code-block"><code>{source}</code></pre> })));

/** Browsers lend the clipboard itself only to pages that came over TLS or from this machine. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden-text';
  document.body.append(area);
  const before = document.activeElement;
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!done) throw new Error('The browser does not lend its clipboard.');
}

export function useCopied(): [boolean, (text: string) => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = window.setTimeout(() => setCopied(false), 1500);
    return () => window.clearTimeout(timer);
  }, [copied]);
  return [copied, (text) => void copyText(text).then(() => setCopied(true), () => setCopied(false))];
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, copy] = useCopied();
  return (
    <button type="button" className="icon-button" title={label} aria-label={copied ? 'Copied' : label} onClick={() => copy(text)}>
      {copied ? <Check /> : <Copy />}
    </button>
  );
}

export const CodeBlock = memo(function CodeBlock({ code, language, streaming }: { code: string; language: string; streaming: boolean }) {
  const [source, setSource] = useState(false);
  if (language === 'mermaid' && !streaming && !source) {
    return (
      <Suspense fallback={<pre className="code-block"><code>{code}</code></pre>}>
        <Diagram source={code} onSource={() => setSource(true)} />
      </Suspense>
    );
  }
  return (
    <figure className="code-block">
      <figcaption>
        <span>{language || 'text'}</span>
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      <pre tabIndex={0}><code><Coloured code={code} language={language} still={!streaming} /></code></pre>
    </figure>
  );
});

/** While it streams it stays plain: colours that change with every letter help nobody. */
export function Coloured({ code, language, still = true }: { code: string; language: string; still?: boolean }) {
  const { dark } = useTheme();
  const [painted, setPainted] = useState<{ code: string; lines: Painted } | null>(null);
  useEffect(() => {
    if (!still || !language || code.length > 60_000) return;
    let current = true;
    void highlight(code, language, dark).then((lines) => {
      if (current && lines) setPainted({ code, lines });
    });
    return () => {
      current = false;
    };
  }, [code, language, dark, still]);
  if (!painted || painted.code !== code) return <>{code}</>;
  return (
    <>
      {painted.lines.map((line, index) => (
        <span key={index}>
          {line.map((piece, place) => <span key={place} style={{ color: piece.color }}>{piece.content}</span>)}
          {index < painted.lines.length - 1 ? '\n' : null}
        </span>
      ))}
    </>
  );
}
