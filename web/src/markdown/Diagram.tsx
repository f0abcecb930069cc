/** A mermaid drawing, as an image: whatever its source says, an image runs nothing and reaches nowhere. */
import mermaid from 'mermaid';
import { useEffect, useId, useState } from 'react';
import { useTheme } from '../theme/useTheme';

/**
 * The library measures labels in the page before it draws, so tags in them must not get that far. Line breaks
 * and the double brackets of class diagrams stay.
 */
export const withoutTags = (source: string) => source.replace(/(?<!<)<(?=[a-z/!])(?!br\s*\/?>)/gi, '‹');

/** As wide as it was drawn: an image of a drawing would otherwise fill whatever room there is, and two words be as large as a title. */
const widthOf = (svg: string) => Math.ceil(Number(/\bviewBox="[-\d.]+ [-\d.]+ ([\d.]+) /.exec(svg)?.[1])) || undefined;

export default function Diagram({ source, onSource }: { source: string; onSource: () => void }) {
  const { dark } = useTheme();
  const id = useId().replace(/[^a-zA-Z0-9]/g, '');
  const [state, setState] = useState<{ url: string; width: number | undefined } | { problem: string } | null>(null);
  useEffect(() => {
    let current = true;
    mermaid.initialize({ startOnLoad: false, suppressErrorRendering: true, securityLevel: 'strict', theme: dark ? 'dark' : 'neutral', htmlLabels: false, flowchart: { htmlLabels: false }, maxTextSize: 50_000, fontFamily: 'sans-serif' });
    mermaid.render(`m${id}`, withoutTags(source)).then(
      ({ svg }) => current && setState({ url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, width: widthOf(svg) }),
      (error: unknown) => current && setState({ problem: error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'It cannot be read.' }),
    );
    return () => {
      current = false;
      document.getElementById(`dm${id}`)?.remove();
    };
  }, [source, dark, id]);
  return (
    <figure className="diagram">
      {state && 'url' in state ? <img src={state.url} alt="Diagram" width={state.width} /> : null}
      {state && 'problem' in state ? <p className="meta">This diagram cannot be drawn: {state.problem}</p> : null}
      {state === null ? <pre><code>{source}</code></pre> : null}
      <button type="button" className="button small" onClick={onSource}>Show source</button>
    </figure>
  );
}
