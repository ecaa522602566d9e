import { epochOf } from '@sluice/engine';
import { sharedKeys } from '../redis/shared-keys.ts';
import type { WireKeys } from '../redis/shared-script.ts';
import { wireWord } from '../redis/wire-command.ts';
import type { CounterPlace, CounterPlaces } from './counter-places.ts';
import { neededFor, type Want } from './limit-store.ts';
import { IntegerWords } from './read-words.ts';

/** A lease is taken like anything else, held for longer, and no request's. */
export type AskMode = 'take' | 'peek' | 'lease';

/** Where each of the wants is counted at a time. */
export function placesOf(
  places: CounterPlaces,
  scope: string,
  wants: readonly Want[],
  nowMs: number,
): CounterPlace[] {
  const found: CounterPlace[] = [];
  for (const { counter } of wants) {
    const { epoch, name } = epochOf(counter, nowMs);
    found.push(places.of(scope, counter, epoch, name));
  }
  return found;
}

/** What the script is told of counters. */
export interface AskedCounters {
  readonly keys: WireKeys;
  /** Seven words of each. */
  readonly lines: string;
}

/** @param restored counters of which is known what was lost */
export function askedCounters(
  scope: string,
  wants: readonly Want[],
  places: readonly CounterPlace[],
  mode: AskMode,
  restored: ReadonlySet<string> | undefined,
): AskedCounters {
  const slotKey = sharedKeys.limitMark(scope);
  let count = 1;
  let wire = wireWord(slotKey);
  let lines = '';
  for (const [at, place] of places.entries()) {
    const want = wants[at];
    if (want === undefined) break;
    const { keys, ofGroup } = place;
    count += keys.count;
    wire += keys.wire;
    let { flags } = place;
    if (ofGroup !== undefined) {
      if (place.hasCounter) flags += 'o';
      else {
        flags += 'g';
        count += ofGroup.count;
        wire += ofGroup.wire;
      }
    }
    if (want.isSoft) flags += 'n';
    if (mode === 'lease') flags += 'l';
    if (restored?.has(place.name)) flags += 'k';
    const needed = want.isSoft ? 0 : neededFor(want);
    lines += `${flags} ${want.amount} ${needed} ${place.bounds} `;
  }
  return { keys: { slotKey, count, wire }, lines };
}

/** What the script said. */
export type TakeReply =
  | { readonly what: 'ok'; readonly redisMs: number; readonly words: IntegerWords }
  | { readonly what: 'clock'; readonly redisMs: number }
  | { readonly what: 'mark'; readonly redisMs: number; readonly mark: string | undefined }
  /** Which of the counters, by their places. */
  | { readonly what: 'lost' | 'new'; readonly redisMs: number; readonly at: readonly number[] };

export function readTakeReply(text: string): TakeReply {
  const space = text.indexOf(' ');
  const what = text.slice(0, space);
  const words = new IntegerWords(text, space + 1);
  const redisMs = words.next();
  switch (what) {
    case 'ok':
    case 'clock':
      return { what, redisMs, words };
    case 'mark':
      return { what, redisMs, mark: text.split(' ')[2] || undefined };
    case 'lost':
    case 'new': {
      const at: number[] = [];
      while (!words.isOver) at.push(words.next() - 1);
      return { what, redisMs, at };
    }
    default:
      throw new Error(`the script of limits said ${JSON.stringify(text.slice(0, 50))}`);
  }
}
