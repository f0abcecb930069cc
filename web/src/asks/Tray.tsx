/** All open asks of all sessions in one place, each with its session. */
import { Link } from '@tanstack/react-router';
import { explain } from '../api/client';
import { useAsks } from '../api/queries';
import { nameOf } from '../inbox/groups';
import { age } from '../session/words';
import { ListButton } from '../shell/Shell';
import { useNow } from '../shell/useNow';
import { useTitle } from '../shell/useTitle';
import { AskCard } from './AskCard';

/** An answer leads to the next one that waits. */
function focusNext(answered: string) {
  const cards = [...document.querySelectorAll<HTMLElement>('[data-ask]')];
  const place = cards.findIndex((card) => card.dataset['ask'] === answered);
  (cards[place + 1] ?? cards[place - 1])?.focus();
}

export function Tray() {
  const asks = useAsks();
  const now = useNow(30_000);
  const open = asks.data?.asks ?? [];
  useTitle(open.length > 0 ? `Waiting (${open.length})` : 'Waiting');
  return (
    <>
      <header className="header"><ListButton /><h1>Waiting for you</h1></header>
      <div className="scroll">
        <div className="page centred">
          {asks.isPending ? <p className="muted">Loading…</p> : null}
          {asks.isError ? <p role="alert">{explain(asks.error).message} {explain(asks.error).advice}</p> : null}
          {asks.isSuccess && open.length === 0 ? <p className="muted">Nothing waits for you. When an agent needs a yes or an answer, it appears here and in its session.</p> : null}
          {open.map(({ session, title, raised_at, ask }) => (
            <article key={ask.id}>
              <p className="meta"><Link to="/s/$id" params={{ id: session }}>{nameOf({ title })}</Link> · {age(raised_at, now)}</p>
              <AskCard session={session} ask={ask} onDone={() => focusNext(ask.id)} />
            </article>
          ))}
        </div>
      </div>
    </>
  );
}
