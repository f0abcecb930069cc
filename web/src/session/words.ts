/** Sentences in plain words for what events say. The same facts as the terminal shows, for a page with buttons. */
import type { Answer, EndReason, Failure, Grant, Recorded } from '../api/events';

export const counted = (count: number, thing: string, things = `${thing}s`) => `${count} ${count === 1 ? thing : things}`;

/** The beginning of a text that is too long, cut between two words. */
export function beginning(text: string, most: number): string {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most).join('').replace(/\s+\S*$/, '')}…`;
}

export function duration(millis: number): string {
  if (millis < 1000) return `${Math.round(millis)} ms`;
  const seconds = millis / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function dollars(usd: number): string {
  if (usd === 0 || usd >= 0.095) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(4)}`;
}

/** In a list, where thousandths would only be noise. */
export const cents = (usd: number) => (usd > 0 && usd < 0.005 ? '<$0.01' : `$${usd.toFixed(2)}`);

export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(0)} KB`;
  return `${(count / 1024 / 1024).toFixed(1)} MB`;
}

export function age(then: number, now: number): string {
  const seconds = Math.max(0, (now - then) / 1000);
  if (seconds < 60) return 'now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d`;
  return new Date(then).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
}

const ADVICE: Record<string, string> = {
  auth: 'Add a valid key under Settings, Models, then go on.',
  forbidden: 'This key may not use this model. Choose another model or another key.',
  quota: 'The account has no credit left. Top it up, or choose another model.',
  not_found: "Check the model's name and the provider's address under Settings, Models.",
  budget: 'Raise or remove the budget under Settings, then go on.',
  config: 'Check the settings; the page “About” says what is wrong.',
  rate_limited: 'The provider is busy. Go on later, or choose another model.',
  overloaded: 'The provider is busy. Go on later, or choose another model.',
  server: 'The provider is in trouble. Go on later, or choose another model.',
  circuit_open: 'The provider is in trouble. Go on later, or choose another model.',
  network: "Check the network and the provider's address, then go on.",
  stream_broken: "Check the network and the provider's address, then go on.",
  idle: "Check the network and the provider's address, then go on.",
  context_overflow: 'The conversation is too long for this model. Choose one with a larger window.',
};

/** A failure in one sentence that ends with a full stop. */
export function failureSentence(failure: Failure): string {
  const text = failure.message.trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** How a turn ended, if that is worth a line. */
export function endSentence(end: EndReason): string | null {
  switch (end.reason) {
    case 'completed':
      return null;
    case 'interrupted':
      return 'Stopped.';
    case 'truncated':
      return "The answer was cut off by the model's output limit. Say “go on” to continue.";
    case 'refused':
      return 'The model declined to answer. Rephrase the request, or choose another model.';
    case 'round_limit':
      return `Stopped after ${counted(end.limit, 'round')}, the limit for one turn.`;
    case 'tool_call_limit':
      return `Stopped after ${counted(end.limit, 'tool call')}, the limit for one turn.`;
    case 'time_limit':
      return `Stopped after ${duration(end.limit_ms)}, the limit for one turn.`;
    case 'token_limit':
      return `Stopped at ${tokens(end.limit)} tokens, the limit for one turn.`;
    case 'cost_limit':
      return `Stopped at ${dollars(end.limit / 1e9)}, the limit for one turn.`;
    case 'all_tools_failed':
      return `Stopped: every tool failed in ${counted(end.rounds, 'round')} in a row. See the errors above, then say how to go on.`;
    case 'stuck':
      return `Stopped: the same calls gave the same results ${end.rounds} times in a row. Say what to do differently.`;
    case 'stage_failed':
      return `Stopped in the stage “${end.stage}”: ${end.message} Go on to try it again.`;
    case 'flow_budget':
      return `Stopped before the next call could exceed the budget of ${dollars(end.limit / 1e9)}. What it has found is kept: “weft research resume --budget USD” goes on.`;
    case 'model_failed':
      return `${failureSentence(end.failure)} ${ADVICE[end.failure.kind] ?? 'Go on to try again.'}`;
  }
}

export function canGoOn(end: EndReason): boolean {
  return !['completed', 'truncated', 'refused', 'stuck', 'all_tools_failed'].includes(end.reason);
}

export function restoredSentence(event: Extract<Recorded, { type: 'files_restored' }>): string {
  const numbers = [...event.turns].sort((a, b) => a - b);
  const turns = numbers.length === 0 ? 'a single file' : numbers.length === 1 ? `turn ${numbers[0]}` : `turns ${numbers.join(', ')}`;
  const count = event.files.length + (event.more ?? 0);
  const files = count === 0 ? 'nothing had to change' : numbers.length === 0 ? event.files.map((file) => file.path).join(', ') : counted(count, 'file');
  const kept = event.kept?.length ? ` Left as they are, because they were changed since: ${event.kept.map((file) => file.path).join(', ')}.` : '';
  return event.way === 'undo' ? `Took back ${turns}: ${files}.${kept}` : `Put ${turns} in place again: ${files}.${kept}`;
}

/** What "for this session" or "always" would allow. */
export function grantWords(grant: Grant): string {
  switch (grant.type) {
    case 'tool':
      return `every use of ${grant.tool}`;
    case 'command':
      return `exactly \`${grant.command}\``;
    case 'rules':
      return grant.rules.map((rule) => `\`${rule}\``).join(', ');
  }
}

export function answerWords(answer: Answer, by: string): string {
  const from = by === 'web' ? '' : ` (${by})`;
  switch (answer.type) {
    case 'approve':
      return { once: 'Allowed once', session: 'Allowed for this session', always: 'Always allowed here' }[answer.scope] + from;
    case 'reject':
      return answer.message ? `Rejected: ${answer.message}${from}` : `Rejected${from}`;
    case 'text':
      return `Answered: ${answer.text}${from}`;
    case 'form':
      return `Filled in: ${Object.entries(answer.values).map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ') || 'nothing'}${from}`;
  }
}

/** What a tool is about to do, before the engine has said it in words. */
export function toolWords(name: string): string {
  const source = /^mcp__(.+?)__(.+)$/.exec(name);
  return source ? `${source[2]} of ${source[1]}` : name.replaceAll('_', ' ');
}
