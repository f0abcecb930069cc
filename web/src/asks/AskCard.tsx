/**
 * A question to the person: the sentence, what exactly, what each answer leads to. Buttons come in one
 * order everywhere. It never locks anything else; an answer moves the focus back to the composer.
 */
import * as Menu from '@radix-ui/react-dropdown-menu';
import { ChevronDown } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { answerAsk } from '../api/queries';
import type { Answer, Ask } from '../api/events';
import { Sentence } from '../markdown/inline';
import { Diff } from '../session/Diff';
import { duration, grantWords } from '../session/words';
import { useNow } from '../shell/useNow';
import { FormAsk } from './FormAsk';

export function AskCard({ session, ask, onDone }: { session: string; ask: Ask; onDone?: () => void }) {
  const [busy, setBusy] = useState(false);
  // An answer that looks like it holds a secret waits for a word of the person.
  const [held, setHeld] = useState<{ given: Answer; secret: string } | null>(null);
  const card = useRef<HTMLElement>(null);
  const title = useId();
  const [sentence, why] = ask.kind.type === 'approval' ? questionOf(ask.question, ask.kind.detail) : [ask.question, ''];
  const answer = async (given: Answer, anyway = false) => {
    if (busy) return;
    setBusy(true);
    const result = await answerAsk(session, ask.id, given, anyway);
    if (result.taken) {
      onDone?.();
      document.querySelector<HTMLElement>('[data-composer]')?.focus();
    } else {
      setBusy(false);
      setHeld(result.secret === null ? null : { given, secret: result.secret });
    }
  };
  // What is held is what was to be said; it goes when that changes.
  const drop = () => held && setHeld(null);
  const edit = () => {
    setHeld(null);
    card.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  };
  const keys = (event: React.KeyboardEvent) => {
    // Letters mean something else in a menu of the card, which is drawn elsewhere, and in forms and questions.
    if (ask.kind.type !== 'approval' || !event.currentTarget.contains(event.target as Node)) return;
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLSelectElement) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'y') void answer({ type: 'approve', scope: 'once' });
    else if (event.key === 'n') void answer({ type: 'reject' });
    else return;
    event.preventDefault();
  };
  return (
    <section ref={card} className="ask" aria-labelledby={title} tabIndex={-1} data-ask={ask.id} onKeyDown={keys} aria-busy={busy}
      onInput={drop} onClick={(event) => event.target instanceof Element && event.target.closest('.option') && drop()}>
      <div className="row">
        <h3 id={title} className="grow"><Sentence text={sentence} /></h3>
        {ask.deadline ? <Countdown until={ask.deadline} /> : null}
      </div>
      {why ? <p><Sentence text={why} /></p> : null}
      {ask.kind.type === 'approval'
        ? <Approval kind={ask.kind} busy={busy} answer={answer} />
        : ask.kind.type === 'form' ? <FormAsk kind={ask.kind} busy={busy} answer={answer} />
        : <Question kind={ask.kind} busy={busy} answer={answer} />}
      {held ? (
        <div className="secret" role="alert">
          <span className="grow">This looks like it holds {held.secret}. It was not sent.</span>
          <button type="button" className="button small" disabled={busy} onClick={() => void answer(held.given, true)}>Send anyway</button>
          <button type="button" className="button small" disabled={busy} onClick={edit}>Edit</button>
        </div>
      ) : null}
    </section>
  );
}

/** The question and the reason for it. What exactly is meant stands below whole, so the question does not say it too. */
export function questionOf(question: string, detail: string): [string, string] {
  const whole = `\`${detail.trim()}\``;
  const short = detail.trim().length > 24 ? question.replace(whole, 'this command') : question;
  const end = /\?\s+(?=\S)/.exec(short);
  return end ? [short.slice(0, end.index + 1), short.slice(end.index + end[0].length)] : [short, ''];
}

function Countdown({ until }: { until: number }) {
  const now = useNow(1000);
  const left = until - now;
  return <span className="meta countdown" title="After this the answer counts as a no.">{left > 0 ? `${duration(Math.ceil(left / 1000) * 1000)} left` : 'time is up'}</span>;
}

const looksLikeDiff = (text: string) => /^(--- |diff --git |@@ -)/m.test(text);

function Approval({ kind, busy, answer }: { kind: Extract<Ask['kind'], { type: 'approval' }>; busy: boolean; answer: (given: Answer) => Promise<void> }) {
  const [instead, setInstead] = useState<string | null>(null);
  const { detail, grant, effect } = kind;
  return (
    <>
      {detail.trim() ? (
        <div className="ask-detail">{looksLikeDiff(detail) ? <Diff text={detail} /> : <pre className="output tall" tabIndex={0} aria-label="What exactly">{detail}</pre>}</div>
      ) : null}
      {effect ? <p className="ask-effect"><Sentence text={effect} /></p> : null}
      {instead === null ? (
        <div className="ask-buttons">
          <button type="button" className="button primary" disabled={busy} onClick={() => void answer({ type: 'approve', scope: 'once' })}>Allow once <kbd>y</kbd></button>
          {grant ? (
            <Menu.Root>
              <Menu.Trigger className="button" disabled={busy}>Always… <ChevronDown /></Menu.Trigger>
              <Menu.Portal>
                <Menu.Content className="menu" align="start" sideOffset={4}>
                  <Menu.Label className="menu-label">Allows <Sentence text={grantWords(grant)} /></Menu.Label>
                  <Menu.Item className="menu-item" onSelect={() => void answer({ type: 'approve', scope: 'session' })}>For this session</Menu.Item>
                  <Menu.Item className="menu-item" onSelect={() => void answer({ type: 'approve', scope: 'always' })}>Always in this workspace</Menu.Item>
                </Menu.Content>
              </Menu.Portal>
            </Menu.Root>
          ) : null}
          <button type="button" className="button" disabled={busy} onClick={() => setInstead('')}>Do something else…</button>
          <button type="button" className="button danger" disabled={busy} onClick={() => void answer({ type: 'reject' })}>Reject <kbd>n</kbd></button>
        </div>
      ) : (
        <form className="ask-form" onSubmit={(event) => {
          event.preventDefault();
          void answer(instead.trim() ? { type: 'reject', message: instead.trim() } : { type: 'reject' });
        }}>
          <input className="field" aria-label="What to do instead" placeholder="What to do instead" value={instead} autoFocus onChange={(event) => setInstead(event.target.value)} onKeyDown={(event) => event.key === 'Escape' && setInstead(null)} />
          <button type="submit" className="button primary" disabled={busy}>Reject and say this</button>
          <button type="button" className="button" onClick={() => setInstead(null)}>Back</button>
        </form>
      )}
    </>
  );
}

function Question({ kind, busy, answer }: { kind: Extract<Ask['kind'], { type: 'question' }>; busy: boolean; answer: (given: Answer) => Promise<void> }) {
  const [chosen, setChosen] = useState<string[]>([]);
  const [text, setText] = useState('');
  const pick = (option: string) => {
    if (!kind.several) return void answer({ type: 'text', text: option });
    setChosen(chosen.includes(option) ? chosen.filter((other) => other !== option) : [...chosen, option]);
  };
  const whole = [...kind.options.filter((option) => chosen.includes(option)), ...(text.trim() ? [text.trim()] : [])].join(', ');
  return (
    <form className="ask-question" onSubmit={(event) => {
      event.preventDefault();
      if (whole) void answer({ type: 'text', text: whole });
    }}>
      {kind.options.length > 0 ? (
        <div className="options" role="group" aria-label="Options">
          {kind.options.map((option) => (
            <button key={option} type="button" className="option" disabled={busy} aria-pressed={kind.several ? chosen.includes(option) : undefined} onClick={() => pick(option)}>{option}</button>
          ))}
        </div>
      ) : null}
      <div className="ask-form">
        <input className="field" aria-label="Your answer" placeholder={kind.options.length > 0 ? 'Or say it in your own words' : 'Your answer'} value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit" className="button primary" disabled={busy || !whole}>Answer</button>
        <button type="button" className="button danger" disabled={busy} onClick={() => void answer({ type: 'reject' })}>Decline</button>
      </div>
    </form>
  );
}
