import type { Logger } from '@sluice/telemetry';
import { pause } from '../pause.ts';
import { encodeLines } from './answered-lines.ts';
import type { AnsweredLine } from './part-store.ts';

export interface AnswersParts {
  /** Stores a part and notes it; false = the batch is somebody else's now. Tried again when it throws. */
  readonly write: (part: WrittenPart) => Promise<boolean>;
  /** The batch is not this run's any more. */
  readonly onLost: () => void;
  /** So many wait for no more: the places of those under way would run out. */
  readonly enough: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

export interface WrittenPart {
  readonly number: number;
  readonly lines: Uint8Array;
  readonly answers: readonly AnsweredLine[];
}

interface Waiting extends AnsweredLine {
  readonly line: number;
  readonly noted: () => void;
}

/** How long an answer waits for others, to be written with them. */
const lingerMs = 50;
const lengthMax = 1024 * 1024;
const retryMsMax = 5_000;

/**
 * Answers on their way into the store, some at a time. A line counts as answered once its part is stored and noted: until then it
 * keeps its place among those under way, so that no more than these are called again when this process dies.
 */
export class Answers {
  readonly #parts: AnswersParts;
  #waiting: Waiting[] = [];
  #length = 0;
  #number = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(parts: AnswersParts) {
    this.#parts = parts;
  }

  /** Resolves when it is kept, or when the batch is lost. */
  add(line: number, answer: AnsweredLine): Promise<void> {
    return new Promise((noted) => {
      this.#waiting.push({ ...answer, line, noted });
      this.#length += answer.text.length;
      this.#consider();
    });
  }

  /** A part costs the same however many are in it: few are written at once only when they have waited. */
  #consider(): void {
    if (this.#waiting.length === 0 || this.#writing !== undefined) return;
    if (this.#waiting.length >= this.#parts.enough || this.#length >= lengthMax) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), lingerMs);
  }

  /** All that was added is kept, or lost. */
  async settled(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing !== undefined) {
      this.#write();
      await this.#writing;
    }
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined || this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#length = 0;
    this.#writing = this.#keep(waiting).finally(() => {
      this.#writing = undefined;
      for (const { noted } of waiting) noted();
      this.#consider();
    });
  }

  async #keep(answers: readonly Waiting[]): Promise<void> {
    const { write, onLost, signal, logger } = this.#parts;
    const lines = encodeLines(answers.map(({ line }) => line));
    // The same however often it is tried: a part that was noted without an answer must not be noted as another.
    this.#number += 1;
    const number = this.#number;
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        if (!(await write({ number, lines, answers }))) onLost();
        return;
      } catch (error) {
        logger.warn({ err: error }, 'answers of a batch could not be kept yet');
        await pause(Math.min(retryMsMax, 200 * 2 ** tries), signal);
      }
    }
  }
}
