import type { Hook } from '@sluice/engine';
import { CheckError } from '@sluice/guardrails';
import { textsOf } from '@sluice/providers';
import type { HookContext } from './hook-context.ts';

/** What one hook allows its checks, as one run of it has it. */
export class HookBounds {
  readonly by: Hook['by'];
  readonly hookId: string;
  readonly #timeoutMs: number | undefined;
  readonly #textLengthMax: number | undefined;
  readonly #startedAt: number;
  readonly #isTooLong: boolean;
  readonly #isLarge: boolean;
  #isOver = false;

  constructor({ id, by, timeoutMs, textLengthMax }: Hook, context: HookContext, startedAt: number) {
    this.by = by;
    this.hookId = id;
    this.#timeoutMs = timeoutMs;
    this.#textLengthMax = textLengthMax;
    this.#startedAt = startedAt;
    this.#isTooLong = textLengthMax !== undefined && textLength(context) > textLengthMax;
    this.#isLarge = context.largeOwner !== undefined;
  }

  /**
   * What is left of the hook's time, ms; undefined = it has no bound.
   * @param spentMs what checks of this event worked so far
   * @throws CheckError when nothing is left
   */
  remainingMs(now: number, spentMs: number): number | undefined {
    const timeoutMs = this.#timeoutMs;
    if (timeoutMs === undefined) return undefined;
    const remaining = this.#startedAt + timeoutMs - now;
    if (remaining > 0 && !this.#isOver) return remaining;
    // Whoever writes a request that is long to look at must not get past an enforced check by it.
    if (this.#isLarge || spentMs * 2 > timeoutMs)
      throw new CheckError('TimeSpent', 'The checks of this guardrail have taken too long.');
    throw this.end();
  }

  /** The time is over, by whichever clock said so first: timers end up to a millisecond early. */
  end(): CheckError {
    this.#isOver = true;
    return new CheckError('HookDeadlineExceeded', 'The guardrail as a whole took too long.');
  }

  /** @throws CheckError when the texts of the document are longer than the hook looks at */
  expectLength(): void {
    if (this.#isTooLong)
      throw new CheckError(
        'TextTooLong',
        `The texts are longer than the ${this.#textLengthMax} characters that this guardrail looks at.`,
      );
  }
}

/** Characters of all texts of what is looked at; pictures and sound are none. */
function textLength(context: HookContext): number {
  return textsOf(context, ['all']).parts.reduce((sum, { length }) => sum + length, 0);
}
