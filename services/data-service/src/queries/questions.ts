import type { ClickHouseClient } from '@clickhouse/client';
import { GatewayError } from '@sluice/errors';

/** What answers questions, and changes nothing. */
export type Reader = Pick<ClickHouseClient, 'query'>;

/** Questions of people: those that wait hold up nobody but one another, and none is asked that nobody waits for any more. */
export interface Questions {
  /**
   * For one question. Its statements come before those of questions that began later, so that what was begun is ended. Its first
   * fails with `admin.analytics_busy` where too many wait, or where its turn does not come in time.
   */
  one(signal: AbortSignal): Reader;
  /** For a walk through many rows: each of its statements takes its turn as a question of its own, and is never refused. */
  walk(signal: AbortSignal): Reader;
}

export interface QuestionLimits {
  /** Statements that are worked on. */
  readonly atOnce: number;
  /** Questions that have not begun. */
  readonly waitingMax: number;
  /** How long one may wait for its beginning: whoever asks waits for ten seconds, some of which the answer takes. */
  readonly waitMs: number;
}

export const questionLimits = { waitingMax: 100, waitMs: 5000 } as const;

interface Waiting {
  /** Of the question: the lowest goes first. */
  readonly number: number;
  readonly isFirst: boolean;
  go(): void;
}

export function createQuestions(
  reader: Reader,
  { atOnce, waitingMax, waitMs }: QuestionLimits,
): Questions {
  let running = 0;
  let numbers = 0;
  /** By number. */
  const waiting: Waiting[] = [];

  /** @param mayBeRefused false = it waits however long it takes */
  async function turn(number: number, mayBeRefused: boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (running < atOnce) {
      running++;
      return;
    }
    if (mayBeRefused && waiting.filter(({ isFirst }) => isFirst).length >= waitingMax) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const place: Waiting = { number, isFirst: mayBeRefused, go: resolve };
    const after = waiting.findIndex((other) => other.number > number);
    waiting.splice(after === -1 ? waiting.length : after, 0, place);
    const leave = (why: unknown) => {
      const at = waiting.indexOf(place);
      // Its turn has come.
      if (at === -1) return;
      waiting.splice(at, 1);
      reject(why);
    };
    const gone = () => leave(signal.reason);
    signal.addEventListener('abort', gone, { once: true });
    const timer = mayBeRefused ? setTimeout(() => leave(busy()), waitMs) : undefined;
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', gone);
      clearTimeout(timer);
    }
  }

  function end(): void {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next.go();
  }

  /** @param place of each statement */
  function readerOf(
    signal: AbortSignal,
    place: () => { number: number; mayBeRefused: boolean },
  ): Reader {
    const query = async (params: Parameters<Reader['query']>[0]) => {
      const { number, mayBeRefused } = place();
      await turn(number, mayBeRefused, signal);
      try {
        return await reader.query({ ...params, abort_signal: signal });
      } catch (error) {
        throw signal.aborted ? signal.reason : (tooLarge(error) ?? error);
      } finally {
        end();
      }
    };
    return { query: query as Reader['query'] };
  }

  return {
    one(signal) {
      const number = numbers++;
      let hasBegun = false;
      return readerOf(signal, () => {
        const mayBeRefused = !hasBegun;
        hasBegun = true;
        return { number, mayBeRefused };
      });
    },
    walk: (signal) => readerOf(signal, () => ({ number: numbers++, mayBeRefused: false })),
  };
}

function busy(): GatewayError {
  return new GatewayError('admin.analytics_busy');
}

/** What a statement's failure is where it took more than one may; undefined = it failed otherwise. */
function tooLarge(error: unknown): GatewayError | undefined {
  // Not by its class: the embedded engine has one of its own.
  return error instanceof Error && 'type' in error && tooLargeTypes.has(error.type)
    ? new GatewayError('admin.analytics_too_large', { cause: error })
    : undefined;
}

const tooLargeTypes: ReadonlySet<unknown> = new Set([
  'TIMEOUT_EXCEEDED',
  'TOO_SLOW',
  'TOO_MANY_ROWS',
  'TOO_MANY_BYTES',
  'MEMORY_LIMIT_EXCEEDED',
]);
