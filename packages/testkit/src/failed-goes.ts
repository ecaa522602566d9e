import { expect, type RunnerTestCase, TestRunner } from 'vitest';

/**
 * Vitest's runner of `npm run test:goes`: every test fails on purpose, at its end in the first go and somewhere on its
 * way in the second, and has to pass in the third. One that cannot has left something behind that a test which fails by
 * chance would leave, too: a name that is taken, a count that adds up, a part that is stopped.
 */
export default class FailedGoes extends TestRunner {
  /** Of the first go, by test. */
  readonly #assertions = new Map<string, number>();

  override onBeforeTryTask(test: RunnerTestCase, go: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, go);
    const count = this.#assertions.get(test.id) ?? 0;
    made = 0;
    failsAt = go.retry === 1 ? Math.ceil(Math.random() * count) : 0;
  }

  override onAfterTryTask(test: RunnerTestCase): void {
    super.onAfterTryTask(test);
    const go = test.result?.retryCount ?? 0;
    if (go === 0) this.#assertions.set(test.id, made);
    // One whose assertion failed within a wait went on.
    if (go < 2) throw new Error(`failed on purpose, at the end of go ${go + 1}`);
  }
}

/** Of the go under way; tests that run beside each other share them. */
let made = 0;
let failsAt = 0;

const assertions = Object.getPrototypeOf(expect(0)) as { assert: (...args: unknown[]) => unknown };
const { assert } = assertions;
assertions.assert = function (...args) {
  made += 1;
  // A wait would ask again.
  if (made === failsAt && isWithinWait()) failsAt += 1;
  if (made === failsAt) throw new Error(`failed on purpose, at assertion ${made}`);
  return assert.apply(this, args);
};

const isWithinWait = () => /eventually\.ts/.test(new Error().stack ?? '');
