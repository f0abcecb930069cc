/** A formula, drawn by the browser from MathML. The library that writes it is loaded with the first one. */
import { useEffect, useRef, useState } from 'react';

export function Formula({ source, block = false }: { source: string; block?: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    let current = true;
    void import('katex').then(({ default: katex }) => {
      if (!current || !place.current) return;
      // `trust` off: no links, classes or styles of the author's own come out of it.
      katex.render(source, place.current, { output: 'mathml', displayMode: block, throwOnError: false, trust: false, maxExpand: 200, maxSize: 20 });
      setDrawn(true);
    });
    return () => {
      current = false;
    };
  }, [source, block]);
  return (
    <span className={block ? 'formula block' : 'formula'}>
      {drawn ? null : <code>{source}</code>}
      <span ref={place} />
    </span>
  );
}
