import type { HookCheck } from '@sluice/engine';
import { CheckError, type CheckFunction, type CheckKind } from '@sluice/guardrails';

/**
 * Compiles each check of a config once, on first use, and keeps it for as long
 * as the config lives. A check that is unknown or has wrong parameters compiles
 * to one that says so whenever it runs.
 */
export class CheckCompiler {
  readonly #kinds: ReadonlyMap<string, CheckKind>;
  readonly #onFault: (checkId: string, error: Error) => void;
  readonly #compiled = new WeakMap<HookCheck, CheckFunction>();

  /** `onFault` hears once of each check that cannot run. */
  constructor(
    kinds: ReadonlyMap<string, CheckKind>,
    onFault: (checkId: string, error: Error) => void,
  ) {
    this.#kinds = kinds;
    this.#onFault = onFault;
  }

  get(check: HookCheck): CheckFunction {
    const known = this.#compiled.get(check);
    if (known !== undefined) return known;
    const compiled = this.#compile(check);
    this.#compiled.set(check, compiled);
    return compiled;
  }

  #compile(check: HookCheck): CheckFunction {
    try {
      const kind = this.#kinds.get(check.id);
      if (kind === undefined)
        throw new CheckError('UnknownCheck', `There is no check "${check.id.slice(0, 120)}".`);
      return kind.compile(check.parameters);
    } catch (caught) {
      const error = caught instanceof Error ? caught : new Error(String(caught));
      this.#onFault(check.id, error);
      return () => {
        throw error;
      };
    }
  }
}
