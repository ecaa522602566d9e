import type { ClickHouseClient } from '@clickhouse/client';
import { GatewayError } from '@sluice/errors';
import type { CallContext } from '@sluice/rpc';

/** What answers questions, and changes nothing. */
export type Reader = Pick<ClickHouseClient, 'query'>;

/** Questions of people: those that wait hold up nobody but one another, and none is asked that nobody waits for any more. */
export interface Questions {
  /**
   * For one question. Its statements come before those of questions that began later, so that what was begun is ended. Its first
   * fails with `admin.analytics_busy` where too many wait, or where its turn does not come in half the time for which its caller
   * waits. A statement that cannot be answered before the caller's deadline ends with `admin.analytics_too_large`.
   */
  one(caller: CallContext): Reader;
  /** For a walk through many rows: each of its statements takes its turn as a question of its own, and is never refused. */
  walk(caller: CallContext): Reader;
}

export interface QuestionLimits {
  /** Statements that are worked on. */
  readonly atOnce: number;
  /** Questions that have not begun. */
  readonly waitingMax: number;
}

export const questionLimits = { waitingMax: 100 } as const;

/** So much of a caller's time is left for the answer to be read and sent. */
const answerMs = 500;
/** A time limit of 0 would be none. */
const leastMs = 50;

/** Reads for a caller, at once. No statement takes longer than the caller waits, told or not that it has gone. */
export function readerFor(reader: Reader, caller: CallContext): Reader {
  const query = (params: Parameters<Reader['query']>[0]) =>
    reader.query({
      ...params,
      query: endingInTime(params.query, caller),
      abort_signal: caller.signal,
    });
  return { query: query as Reader['query'] };
}

/**
 * A statement that ends before its caller's deadline. In the text: what stands beside it holds for all that the embedded
 * engine does from then on. Of a setting that stands there twice the last counts.
 */
function endingInTime(query: string, { deadlineMs }: CallContext): string {
  if (deadlineMs === undefined) return query;
  const seconds = Math.max(leastMs, deadlineMs - answerMs - Date.now()) / 1000;
  const joint = /\bSETTINGS\s[\w\s=,.]+$/.test(query) ? ',' : '\nSETTINGS';
  return `${query}${joint} max_execution_time = ${seconds}`;
}

interface Waiting {
  /** Of the question: the lowest goes first. */
  readonly number: number;
  readonly isFirst: boolean;
  go(): void;
}

export function createQuestions(reader: Reader, { atOnce, waitingMax }: QuestionLimits): Questions {
  let running = 0;
  let numbers = 0;
  /** By number. */
  const waiting: Waiting[] = [];

  /** @param mayBeRefused false = it waits however long it takes */
  async function turn(number: number, mayBeRefused: boolean, caller: CallContext): Promise<void> {
    const { signal, deadlineMs } = caller;
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
    const timer =
      mayBeRefused && deadlineMs !== undefined
        ? setTimeout(() => leave(busy()), (deadlineMs - Date.now()) / 2)
        : undefined;
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
    caller: CallContext,
    place: () => { number: number; mayBeRefused: boolean },
  ): Reader {
    const { signal } = caller;
    const inTime = readerFor(reader, caller);
    let waitedMs = 0;
    const query = async (params: Parameters<Reader['query']>[0]) => {
      const { number, mayBeRefused } = place();
      const cameMs = performance.now();
      await turn(number, mayBeRefused, caller);
      waitedMs += performance.now() - cameMs;
      try {
        return await inTime.query(params);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const hadTime = waitedMs < hurriedMs || !isTooLate(error);
        throw hadTime ? (tooLarge(error) ?? error) : busy();
      } finally {
        end();
      }
    };
    return { query: query as Reader['query'] };
  }

  return {
    one(caller) {
      const number = numbers++;
      let hasBegun = false;
      return readerOf(caller, () => {
        const mayBeRefused = !hasBegun;
        hasBegun = true;
        return { number, mayBeRefused };
      });
    },
    walk: (caller) => readerOf(caller, () => ({ number: numbers++, mayBeRefused: false })),
  };
}

/** Who waited longer for its turns might have been answered in time without. */
const hurriedMs = 1000;

function busy(): GatewayError {
  return new GatewayError('admin.analytics_busy');
}

/** What a statement's failure is where it took more than one may; undefined = it failed otherwise. */
function tooLarge(error: unknown): GatewayError | undefined {
  return isTooLate(error) || tooLargeTypes.has(typeOf(error))
    ? new GatewayError('admin.analytics_too_large', { cause: error })
    : undefined;
}

function isTooLate(error: unknown): boolean {
  return tooLateTypes.has(typeOf(error));
}

function typeOf(error: unknown): unknown {
  // Not by its class: the embedded engine has one of its own.
  return error instanceof Error && 'type' in error ? error.type : undefined;
}

const tooLateTypes: ReadonlySet<unknown> = new Set(['TIMEOUT_EXCEEDED', 'TOO_SLOW']);
const tooLargeTypes: ReadonlySet<unknown> = new Set([
  'TOO_MANY_ROWS',
  'TOO_MANY_BYTES',
  'MEMORY_LIMIT_EXCEEDED',
]);
