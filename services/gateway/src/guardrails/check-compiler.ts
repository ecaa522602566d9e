import type { HookCheck } from '@sluice/engine';
import { CheckError, type CheckKind, type CompiledCheck } from '@sluice/guardrails';

/** A check that can be run. */
export interface ReadyCheck extends CompiledCheck, Pick<CheckKind, 'judges'> {}

/**
 * Compiles each check of a config once, on first use, and keeps it for as long
 * as the config lives. A check that is unknown or has wrong parameters compiles
 * to one that says so whenever it runs.
 */
export class CheckCompiler {
  readonly #kinds: ReadonlyMap<string, CheckKind>;
  readonly #onFault: (checkId: string, error: Error) => void;
  readonly #compiled = new WeakMap<HookCheck, ReadyCheck>();

  /** `onFault` hears once of each check that cannot run. */
  constructor(
    kinds: ReadonlyMap<string, CheckKind>,
    onFault: (checkId: string, error: Error) => void,
  ) {
    this.#kinds = kinds;
    this.#onFault = onFault;
  }

  get(check: HookCheck): ReadyCheck {
    const known = this.#compiled.get(check);
    if (known !== undefined) return known;
    const compiled = this.#compile(check);
    this.#compiled.set(check, compiled);
    return compiled;
  }

  #compile(check: HookCheck): ReadyCheck {
    try {
      const kind = this.#kinds.get(check.id);
      if (kind === undefined)
        throw new CheckError('UnknownCheck', `There is no check "${check.id.slice(0, 120)}".`);
      const { run, deadlineMs } = kind.compile(check.parameters);
      return { run, deadlineMs, judges: kind.judges };
    } catch (caught) {
      const error = caught instanceof Error ? caught : new Error(String(caught));
      this.#onFault(check.id, error);
      const run = () => {
        throw error;
      };
      return { run, deadlineMs: undefined, judges: 'type' };
    }
  }
}
