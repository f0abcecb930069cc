import { useEffect } from 'react';

/** The title of the page, as the tab and the history show it. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} · Weft` : 'Weft';
  }, [title]);
}
