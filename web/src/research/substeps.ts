/** What the stages of a run do, call by call, from the same items as the conversation. Pure. */
import type { Call, Turn } from '../session/fold';

/** The calls of each stage, the last time it was gone through. Questions to the person are no work of a stage. */
export function substepsOf(turns: readonly Turn[], run: number): ReadonlyMap<string, Call[]> {
  const found = new Map<string, Call[]>();
  let stage: string | null = null;
  for (const item of turns.flatMap((turn) => turn.items)) {
    if (item.kind === 'stage') {
      stage = item.run === run ? item.stage : null;
      if (stage) found.set(stage, []);
    } else if (item.kind === 'document' || item.kind === 'said') stage = null;
    else if (item.kind === 'call' && stage && item.tool !== 'ask_user') found.get(stage)?.push(item);
  }
  return found;
}
