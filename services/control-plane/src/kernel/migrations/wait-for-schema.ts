import { setTimeout as delay } from 'node:timers/promises';
import { storeMismatch } from '@sluice/rpc';
import type { Logger } from '@sluice/telemetry';
import { inDatabase } from './apply.ts';
import { readSchemaState, type SchemaState } from './journal.ts';

/** Whether the database is one that this release can work with. Never alters it: `npm run migrate` does. */
export interface SchemaGate {
  readonly isReady: boolean;
  /** Why it is not, as far as the database said so itself. */
  readonly fault: string | undefined;
  /** Resolves with true when the database is right, however long that takes; with false when stopped before. */
  wait(stopping: AbortSignal): Promise<boolean>;
}

/** A start beside `npm run migrate` is not held up for long; a wait of hours asks seldom. */
const firstMs = 250;
const laterMs = 2_000;
const firstLooks = 20;

export function createSchemaGate(databaseUrl: string, logger: Logger): SchemaGate {
  let isReady = false;
  let fault: string | undefined;
  let told = '';

  /** Whether it is as it must be. */
  async function look(): Promise<boolean> {
    try {
      const state = await inDatabase(databaseUrl, (client) => readSchemaState(client));
      fault = faultOf(state);
      if (fault === undefined && state.unknown.length > 0)
        logger.info(
          { unknown: state.unknown, ...state.version },
          'the database is of a later release, which only added to it',
        );
      if (fault !== undefined) tell({ fault });
      return fault === undefined;
    } catch (error) {
      tell({ reason: error instanceof Error ? error.message : String(error) });
      return false;
    }
  }

  /** Once, and again when it is something else. */
  function tell(why: { fault: string } | { reason: string }): void {
    const text = 'fault' in why ? why.fault : why.reason;
    if (text !== told)
      logger.warn(why, 'not ready: the database is not yet as this release needs it');
    told = text;
  }

  return {
    get isReady() {
      return isReady;
    },
    get fault() {
      return fault;
    },
    async wait(stopping) {
      for (let looks = 0; !stopping.aborted; looks += 1) {
        isReady = await look();
        if (isReady) return true;
        const pauseMs = looks < firstLooks ? firstMs : laterMs;
        await delay(pauseMs, undefined, { signal: stopping }).catch(() => {});
      }
      return false;
    },
  };
}

function faultOf({ missing, version }: SchemaState): string | undefined {
  if (missing.length > 0)
    return `the database lacks ${missing.map(({ name }) => name).join(', ')}: waiting for npm run migrate`;
  return version && storeMismatch('the database', version);
}
