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

/** The page's colours as the library takes them: it does sums with them and knows only the old ways to write them. */
function coloursOf(dark: boolean) {
  const page = getComputedStyle(document.documentElement);
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const colour = (name: string) => {
    if (!canvas) return undefined;
    canvas.fillStyle = page.getPropertyValue(name);
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
  };
  const [background, foreground, border, sunken, code, accent] = ['--background', '--foreground', '--muted', '--sunken', '--code', '--selected'].map(colour);
  return {
    darkMode: dark, fontSize: '14px', background, primaryColor: code, secondaryColor: sunken, tertiaryColor: sunken, primaryTextColor: foreground, primaryBorderColor: border,
    lineColor: border, textColor: foreground, edgeLabelBackground: background, clusterBkg: sunken, clusterBorder: border, noteBkgColor: accent, noteTextColor: foreground, noteBorderColor: border,
  };
}

export default function Diagram({ source, onSource }: { source: string; onSource: () => void }) {
  const { dark, worn } = useTheme();
  const id = useId().replace(/[^a-zA-Z0-9]/g, '');
  const [state, setState] = useState<{ url: string; width: number | undefined } | { problem: string } | null>(null);
  useEffect(() => {
    let current = true;
    mermaid.initialize({ startOnLoad: false, suppressErrorRendering: true, securityLevel: 'strict', theme: 'base', themeVariables: coloursOf(dark), htmlLabels: false, flowchart: { htmlLabels: false }, maxTextSize: 50_000, fontFamily: 'sans-serif' });
    mermaid.render(`m${id}`, withoutTags(source)).then(
      ({ svg }) => current && setState({ url: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, width: widthOf(svg) }),
      (error: unknown) => current && setState({ problem: error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'It cannot be read.' }),
    );
    return () => {
      current = false;
      document.getElementById(`dm${id}`)?.remove();
    };
    // Another theme has other colours.
  }, [source, dark, worn, id]);
  return (
    <figure className="diagram">
      {state && 'url' in state ? <img src={state.url} alt="Diagram" width={state.width} /> : null}
      {state && 'problem' in state ? <p className="meta">This diagram cannot be drawn: {state.problem}</p> : null}
      {state === null ? <pre><code>{source}</code></pre> : null}
      <button type="button" className="button small show-source" onClick={onSource}>Show source</button>
    </figure>
  );
}
