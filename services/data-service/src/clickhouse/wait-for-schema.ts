import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import type { Logger } from '@sluice/telemetry';
import { applySchema, missingSchema, schemaFolder } from './apply-schema.ts';

/** Whether the ledger's tables are there. */
export interface SchemaGate {
  readonly isReady: boolean;
  /** Why it is not, in words; undefined also while nobody looked. */
  readonly fault: string | undefined;
  /** Resolves with true when they are, however long that takes; with false when stopped before. */
  wait(stopping: AbortSignal): Promise<boolean>;
}

/**
 * The embedded engine's folder takes one process only, so this one brings it up to date; a server is brought up to date by `npm
 * run migrate`, and never from here.
 */
export function createSchemaGate(
  client: ClickHouseClient,
  { isOwn, logger }: { isOwn: boolean; logger: Logger },
): SchemaGate {
  let isReady = false;
  let fault: string | undefined;

  async function look(): Promise<string | undefined> {
    try {
      const files = await (isOwn ? applySchema : missingSchema)(client, schemaFolder);
      if (isOwn && files.length > 0) logger.info({ files }, 'applied schema files');
      if (isOwn || files.length === 0) return undefined;
      return `the ledger lacks ${files.join(', ')}: waiting for npm run migrate`;
    } catch (error) {
      return `the schema could not be looked at: ${(error as Error).message}`;
    }
  }

  return {
    get isReady() {
      return isReady;
    },
    get fault() {
      return fault;
    },
    async wait(stopping) {
      while (!stopping.aborted) {
        const found = await look();
        isReady = found === undefined;
        if (found !== undefined && found !== fault)
          logger.warn(
            { fault: found },
            'not ready: the ledger is not yet as this release needs it',
          );
        fault = found;
        if (isReady) return true;
        await delay(1000, undefined, { signal: stopping }).catch(() => {});
      }
      return false;
    },
  };
}
