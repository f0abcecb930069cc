/** A recorded event as a trace card: its family, its sentence, its words for searching. Pure. */
import type { Recorded } from '../api/events';
import { textOf } from '../session/fold';
import { answerWords, counted, dollars, duration, endSentence, failureSentence, grantWords, restoredSentence, tokens } from '../session/words';

export type Family = 'you' | 'model' | 'tool' | 'ask' | 'system' | 'error';
export const FAMILIES: Record<Family, string> = { you: 'You', model: 'Model', tool: 'Tools', ask: 'Asks', system: 'System', error: 'Errors' };

/** What finds the card that is no event. */
export const PROMPT_WORDS = 'system prompt instructions tools';

export interface Card {
  seq: number;
  family: Family;
  title: string;
  text: string;
}

export function cardOf(event: Recorded): Card {
  const card = (family: Family, title: string, text = ''): Card => ({ seq: event.seq, family, title, text });
  switch (event.type) {
    case 'session_started':
      return card('system', 'Session began', `${event.agent} · ${event.model} · ${event.mode} · ${event.workspace}`);
    case 'title_set':
      return card('system', 'Title', event.title);
    case 'mode_set':
      return card('system', 'Mode', event.mode);
    case 'model_set':
      return card('system', 'Model', event.model);
    case 'limits_set':
      return card('system', 'Limits set');
    case 'input_received':
      return card('you', event.delivery === 'steer' ? 'You, while it worked' : 'You', event.shorthand?.typed ?? (textOf(event.content) || 'Files'));
    case 'input_withdrawn':
      return card('you', 'Message taken back');
    case 'turn_started':
      return card('system', `Turn ${event.turn}`);
    case 'round_started':
      return card('model', `Round ${event.round}${event.attempt > 1 ? `, try ${event.attempt}` : ''}`, event.model);
    case 'round_answered': {
      const spent = `${tokens(event.spent.usage.input)} in · ${tokens(event.spent.usage.output)} out · ${duration(event.spent.millis)}${event.spent.cost ? ` · ${dollars(event.spent.cost / 1e9)}` : ''}`;
      const said = event.parts.flatMap((part) => (part.type === 'text' || part.type === 'thinking' ? [part.text] : part.type === 'tool_call' ? [`→ ${part.name}`] : []));
      return card('model', event.parts.some((part) => part.type === 'thinking') ? 'Reasoning and answer' : 'Answer', [spent, ...said].join('\n'));
    }
    case 'round_failed':
      return card('error', 'Model call failed', failureSentence(event.failure));
    case 'tool_started':
      return card('tool', event.summary || event.tool);
    case 'tool_finished':
      return card(event.outcome === 'ok' ? 'tool' : 'error', `${event.output.summary || event.tool} · ${event.outcome}${event.millis >= 100 ? ` · ${duration(event.millis)}` : ''}`, event.output.text.slice(0, 400));
    case 'ask_raised':
      return card('ask', 'Asked', event.ask.question);
    case 'ask_answered':
      return card('ask', answerWords(event.answer, event.by));
    case 'ask_withdrawn':
      return card('ask', `Ask closed: ${event.why}`);
    case 'grant_given':
      return card('ask', event.always ? 'Allowed for good' : 'Allowed for this session', grantWords(event.grant));
    case 'stop_requested':
      return card('system', event.by === 'person' ? 'You stopped the turn' : 'The time limit stopped the turn');
    case 'turn_ended':
      return card(['completed', 'interrupted'].includes(event.reason.reason) ? 'system' : 'error', `Turn ${event.turn} ended`, endSentence(event.reason) ?? 'Done.');
    case 'compaction_started':
      return card('system', 'Making a summary of earlier parts');
    case 'compacted':
      return card('system', 'Earlier parts are now a summary', event.summary);
    case 'recovered':
      return card('system', 'Went on after a stop', event.interrupted.length > 0 ? `${event.interrupted.length} calls were interrupted` : '');
    case 'sampled':
      return card('model', `A model answered the source ${event.source}`);
    case 'hook_ran':
      return card('system', `Hook ${event.hook}`, `${event.point}: ${event.result}`);
    case 'flow_started':
      return card('system', `Run ${event.run} of ${event.title}`, event.question);
    case 'flow_continued':
      return card('system', `Run ${event.run} goes on`);
    case 'stage_started':
      return card('system', `Stage ${event.stage}${event.iteration > 0 ? `, again (${event.iteration})` : ''}`);
    case 'stage_calls':
      return card('tool', `The stage ${event.stage} calls`, event.calls.map((call) => call.name).join(', '));
    case 'stage_finished':
      return card('system', `Stage ${event.stage} done`, event.summary);
    case 'stage_skipped':
      return card('system', `Stage ${event.stage} left out`, event.why);
    case 'stage_failed':
      return card('error', `Stage ${event.stage} failed`, event.message);
    case 'flow_paused':
      return card('ask', `Paused after ${event.stage}`, event.text);
    case 'flow_resumed':
      return card('you', `Went on after ${event.stage}`, event.reply);
    case 'breakout_asked':
      return card('ask', 'Asked whether to leave the run', event.said);
    case 'repair_started':
      return card('system', `Mends from ${event.stage}, time ${event.iteration}`, event.feedback);
    case 'flow_ended':
      return card('system', `Run ${event.run} ended: ${event.reason}`, event.summary);
    case 'files_changed':
      return card('tool', `${counted(event.files.length + (event.more ?? 0), 'file')} changed`, event.files.map((file) => file.path).join(', '));
    case 'files_restored':
      return card('tool', restoredSentence(event));
    default:
      return card('system', 'Something this page does not know', JSON.stringify(event).slice(0, 300));
  }
}

/**
 * The turn that each event belongs to, by its number: what was said before a turn began belongs to the turn that took
 * it up. Nothing for what is before the first turn that the page knows of.
 */
export function turnsOf(events: readonly Recorded[]): Map<number, number> {
  const turns = new Map<number, number>();
  let current: number | null = null;
  let waiting: number[] = [];
  for (const event of events) {
    if (event.type === 'turn_started') {
      current = event.turn;
      for (const seq of waiting) turns.set(seq, current);
      waiting = [];
    } else if (event.type === 'turn_ended') {
      // The page may know only the end of a turn.
      if (current === null) for (const seq of waiting) turns.set(seq, event.turn);
      turns.set(event.seq, event.turn);
      waiting = [];
      current = null;
      continue;
    }
    if (current === null) waiting.push(event.seq);
    else turns.set(event.seq, current);
  }
  return turns;
}

/** One for everything that came of one message: the session and the turn. */
export const traceId = (session: string, turn: number | undefined) => (turn === undefined ? session : `${session}.${turn}`);

/** Whether a card holds all the words; a number finds the event with it, a trace id all of its turn. */
export function matches(card: Card, event: Recorded, wanted: string, trace = event.session as string): boolean {
  if (!wanted) return true;
  if (wanted === `#${card.seq}` || wanted === trace) return true;
  if (wanted.startsWith(`${event.session}.`)) return false;
  const text = `${card.title} ${card.text} ${event.type} ${event.session}`.toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
