import { setMaxListeners } from 'node:events';
import { pause } from '../pause.ts';
import type { AnsweredLines } from './answered-lines.ts';
import type { Answers } from './answers.ts';
import { callLine, type LineAnswer, type LineCaller, type LineOutcome, told } from './call-line.ts';
import { linesOf } from './lines.ts';
import type { Pace } from './pace.ts';
import type { AnsweredLine } from './part-store.ts';
import { type ReadLine, readLine } from './read-line.ts';

export interface RunRules {
  readonly batchId: string;
  readonly endpoint: string;
  readonly lineBytesMax: number;
  /** Lines that are called, or whose answers are being kept, at once. */
  readonly atOnce: number;
  readonly retriesMax: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly endsAtMs: number;
}

export interface RunParts {
  readonly caller: LineCaller;
  readonly answers: Answers;
  readonly answered: AnsweredLines;
  readonly total: number;
  /** Undefined = as fast as limits allow. */
  readonly pace: Pace | undefined;
  /** The newest that the control plane gave. */
  readonly token: () => string;
  /** Whether lines may be begun: nobody else can have the batch. */
  readonly mayBegin: () => boolean;
  readonly signals: {
    /** Ends calls as well. */
    readonly cut: AbortSignal;
    /** Begins no more lines. */
    readonly leave: AbortSignal;
  };
}

/** Why no more lines are begun. */
export type RunEnd = 'done' | 'left' | 'expired' | { readonly keyEnded: string };

const waitMsDefault = 2_000;
const waitMsMax = 60_000;
const budgetWaitMs = 30_000;
/** Calls of one line that nobody answered, as when its gateway was killed, before it is given up. */
const unansweredMax = 20;

/** Calls every line that was not answered before, each as a request of its own. Resolves when none is under way. */
export async function runLines(
  pieces: AsyncIterable<Buffer>,
  rules: RunRules,
  parts: RunParts,
): Promise<RunEnd> {
  const run = new LineRun(rules, parts);
  return run.all(pieces);
}

class LineRun {
  readonly #rules: RunRules;
  readonly #parts: RunParts;
  #underWay = 0;
  /** Whoever waits for a line to end. */
  #onEnd: () => void = () => {};
  readonly #stopped = new AbortController();
  readonly #begins: AbortSignal;
  #pausedUntilMs = 0;
  /** Refusals in a row of all lines. */
  #refusals = 0;
  #keyEnded: string | undefined;
  #left: number;

  constructor(rules: RunRules, parts: RunParts) {
    this.#rules = rules;
    this.#parts = parts;
    this.#left = parts.total - parts.answered.count;
    this.#begins = AbortSignal.any([parts.signals.cut, parts.signals.leave, this.#stopped.signal]);
    // Each line that waits listens.
    setMaxListeners(0, this.#begins, parts.signals.cut);
  }

  async all(pieces: AsyncIterable<Buffer>): Promise<RunEnd> {
    const { endsAtMs } = this.#rules;
    try {
      await this.#beginAll(pieces);
    } finally {
      // Whatever ended it, what was begun is waited for.
      while (this.#underWay > 0) await this.#ended();
      await this.#parts.answers.settled();
    }
    if (this.#keyEnded !== undefined) return { keyEnded: this.#keyEnded };
    if (this.#parts.answered.count >= this.#parts.total) return 'done';
    if (this.#parts.signals.cut.aborted || this.#parts.signals.leave.aborted) return 'left';
    return Date.now() >= endsAtMs ? 'expired' : 'left';
  }

  async #beginAll(pieces: AsyncIterable<Buffer>): Promise<void> {
    const { endpoint, lineBytesMax, atOnce, endsAtMs } = this.#rules;
    for await (const line of linesOf(pieces, lineBytesMax)) {
      if (this.#parts.answered.has(line.number)) continue;
      const read = readLine(line, endpoint);
      if ('code' in read) continue;
      while (this.#underWay >= atOnce && !this.#begins.aborted) await this.#ended();
      await this.#turn();
      if (this.#begins.aborted || Date.now() >= endsAtMs) break;
      this.#left -= 1;
      this.#underWay += 1;
      void this.#answer(read).finally(() => {
        this.#underWay -= 1;
        this.#onEnd();
      });
    }
  }

  /** Some line ended. One waits at a time. */
  #ended(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
    });
  }

  /** Waits until a line may be begun, by the pace, the limits and the lease; or until none may. */
  async #turn(): Promise<void> {
    const { pace, mayBegin } = this.#parts;
    while (!this.#begins.aborted && Date.now() < this.#rules.endsAtMs) {
      const now = Date.now();
      const wait = mayBegin() ? this.#pausedUntilMs - now : 250;
      const paced = wait > 0 ? wait : (pace?.take(this.#left, now) ?? 0);
      if (paced <= 0) return;
      await pause(Math.min(paced, this.#rules.endsAtMs - now), this.#begins);
    }
  }

  async #answer(line: ReadLine): Promise<void> {
    const answer = await this.#ask(line);
    if (answer === undefined) return;
    await this.#parts.answers.add(line.number, answer);
    if (!this.#parts.signals.cut.aborted) this.#parts.answered.add(line.number);
  }

  /** Undefined = it was not answered, and is somebody else's. */
  async #ask(line: ReadLine): Promise<AnsweredLine | undefined> {
    const { caller, token, signals } = this.#parts;
    const { batchId, endpoint, retriesMax, headers, endsAtMs } = this.#rules;
    let retries = 0;
    let unanswered = 0;
    for (;;) {
      const call = { batchId, endpoint, headers, token: token(), ...line };
      const outcome = await callLine(caller, call, signals.cut);
      if (signals.cut.aborted) return undefined;
      if (outcome.kind === 'answer') {
        this.#refusals = 0;
        return this.#told(line, outcome);
      }
      if (outcome.kind === 'ended') {
        this.#keyEnded = outcome.message;
        this.#stopped.abort();
        return undefined;
      }
      if (outcome.kind === 'away') {
        if (!outcome.willKnow) unanswered += 1;
        if (unanswered > unansweredMax) return this.#told(line, nobodyAnswered(outcome.message));
      } else if (outcome.kind === 'again' || !outcome.isOwnLimit) {
        retries += 1;
        if (retries > retriesMax) return this.#told(line, outcome.answer);
      }
      await this.#wait(outcome, retries);
      if (this.#begins.aborted || Date.now() >= endsAtMs) return undefined;
    }
  }

  /** What one line is told to wait for, no other need try. */
  async #wait(outcome: LineOutcome, retries: number): Promise<void> {
    const { endsAtMs } = this.#rules;
    const now = Date.now();
    if (outcome.kind === 'again')
      return pause(Math.min(waitMsMax, 500 * 2 ** retries, endsAtMs - now), this.#begins);
    this.#refusals += 1;
    const backOff = 250 * 2 ** Math.min(8, Math.floor(this.#refusals / this.#rules.atOnce));
    let ms = backOff;
    if (outcome.kind === 'wait') {
      const usual = outcome.answer.status === 412 ? budgetWaitMs : waitMsDefault;
      ms = Math.max(outcome.afterMs ?? Math.min(usual, 2 * backOff), 100);
    }
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, now + Math.min(ms, waitMsMax));
    while (!this.#begins.aborted && Date.now() < Math.min(this.#pausedUntilMs, endsAtMs))
      await pause(
        Math.min(this.#pausedUntilMs, endsAtMs) - Date.now() + Math.random() * 50,
        this.#begins,
      );
  }

  #told({ customId, number }: ReadLine, answer: LineAnswer): AnsweredLine {
    const { batchId } = this.#rules;
    return {
      isError: answer.status >= 400,
      text: told({ batchId, customId, number, ...answer }),
      ...(answer.facts && { facts: answer.facts }),
    };
  }
}

function nobodyAnswered(message: string): LineAnswer {
  const error = {
    code: 'batch.unanswered',
    type: 'api_error',
    message: `No gateway answered: ${message}`,
  };
  return { status: 503, requestId: '', body: JSON.stringify({ error }) };
}
