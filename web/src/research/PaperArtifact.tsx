/** The paper that a session's research is kept as, among what the session made: each version to read elsewhere and to keep. */
import { ScrollText } from 'lucide-react';
import type { ReactNode } from 'react';
import { address } from '../api/client';
import { age } from '../session/words';
import { useNow } from '../shell/useNow';
import { usePaper } from './PaperCard';

const FORMATS = { md: 'Markdown', html: 'HTML', docx: 'Word', pdf: 'PDF' };

export function PaperArtifact({ session, alone }: { session: string; alone: ReactNode }) {
  const known = usePaper(session);
  const now = useNow(60_000);
  const paper = known.data;
  if (!paper) return known.isPending ? null : alone;
  return (
    <details className="paper-artifact">
      <summary className="artifact">
        <ScrollText aria-hidden />
        <span className="grow cut" title={paper.title}>{paper.title}</span>
        <span className="meta">{['paper', paper.versions.length > 1 ? `${paper.versions.length} versions` : null, paper.status === 'decided' ? 'decided' : null].filter(Boolean).join(' · ')}</span>
      </summary>
      <ul className="paper-items">
        {[...paper.versions].reverse().map((version) => (
          <li key={version.number} className="row wrap">
            <span className="grow">Version {version.number}{version.why ? `: ${version.why}` : ''} <span className="meta">{age(version.at, now)}</span></span>
            {(['md', 'html', 'docx', 'pdf'] as const).map((format) => <a key={format} className="button small" href={address(`papers/${paper.paper}/document`, { version: version.number, format })} download>{FORMATS[format]}</a>)}
          </li>
        ))}
      </ul>
    </details>
  );
}
