import { type Logger, Outage } from '@sluice/telemetry';

/** A check, as one guardrail or hook of a workspace has it. */
export interface CheckPlace {
  readonly workspaceId: string;
  /** Undefined = callers write it, and may call it anything. */
  readonly hookId: string | undefined;
  readonly checkId: string;
}

interface Undecided {
  failures: number;
  readonly outage: Outage;
}

const failuresMax = 5;
const placesMax = 10_000;

/**
 * Checks whose host answers, and says nothing that they can use: it refuses their
 * credentials, sends them elsewhere, shows a page to log in. Such a check passes what
 * it should refuse, or denies all, so the log says so once, after failures in
 * a row, and once that it decides again. It goes on asking: a credential that is mended is used at once.
 */
export class UndecidedChecks {
  readonly #logger: Pick<Logger, 'info' | 'warn'>;
  readonly #places = new Map<string, Undecided>();

  constructor(logger: Pick<Logger, 'info' | 'warn'>) {
    this.#logger = logger;
  }

  decided(place: CheckPlace): void {
    if (this.#places.size === 0) return;
    const key = keyOf(place);
    this.#places.get(key)?.outage.ends();
    this.#places.delete(key);
  }

  /** @param reason without what the host said, which may repeat a credential */
  undecided(place: CheckPlace, reason: string): void {
    const key = keyOf(place);
    let known = this.#places.get(key);
    if (known === undefined) {
      if (this.#places.size >= placesMax) return;
      known = { failures: 0, outage: this.#outageOf(place) };
      this.#places.set(key, known);
    }
    known.failures += 1;
    if (known.failures >= failuresMax) known.outage.begins(reason);
  }

  #outageOf({ workspaceId, hookId, checkId }: CheckPlace): Outage {
    return new Outage({
      logger: this.#logger,
      away: 'a check of a guardrail gets no answer that it can use: it cannot decide',
      back: 'a check of a guardrail decides again',
      facts: {
        workspace_id: workspaceId,
        ...(hookId === undefined ? {} : { hook_id: hookId }),
        check_id: checkId,
      },
    });
  }
}

function keyOf({ workspaceId, hookId = '', checkId }: CheckPlace): string {
  return `${workspaceId} ${checkId} ${hookId}`;
}
