import type { AgentUsage, ToldSoFar } from '@sluice/a2a';
import { principalOf } from '../exchange/principal.ts';
import type { AgentExchange } from './find-agent.ts';
import { type Asked, placeOf } from './read-asked.ts';
import type { TaskNotes } from './task-notes.ts';

/** What the agent says was begun is its caller's. Undefined = that is noted. */
export function claimWork(
  notes: TaskNotes,
  exchange: AgentExchange,
  asked: Asked,
  told: ToldSoFar,
  /** Where the agent's own calls are summed; undefined = nowhere. */
  sum?: string,
): Promise<void> | undefined {
  const { key } = exchange;
  // Who only looks begins nothing, and lists name others' tasks.
  if (key === undefined || !beginsWork(asked, exchange.arrival.method)) return undefined;
  const place = placeOf(exchange);
  const principal = principalOf(key);
  const claims: (Promise<void> | undefined)[] = [];
  if (told.taskId !== undefined)
    claims.push(notes.claim(place, 'task', told.taskId, principal, sum));
  const contexts = new Set(asked.contextIds);
  if (told.contextId !== undefined) contexts.add(told.contextId);
  for (const id of contexts) claims.push(notes.claim(place, 'context', id, principal));
  const pending = claims.filter((one) => one !== undefined);
  return pending.length === 0 ? undefined : Promise.all(pending).then(() => {});
}

/** What is used since it was told of the same task before. */
export function usedSince(
  notes: TaskNotes,
  exchange: AgentExchange,
  { usage: now, taskId }: ToldSoFar,
): Promise<AgentUsage | undefined> | AgentUsage | undefined {
  if (now === undefined || taskId === undefined) return now;
  return notes.increase(placeOf(exchange), taskId, now);
}

/** A method that nobody knows may be of an extension. */
function beginsWork({ kind }: Asked, httpMethod: string): boolean {
  return kind === 'send' || kind === 'stream' || (kind === undefined && httpMethod === 'POST');
}
