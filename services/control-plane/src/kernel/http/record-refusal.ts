import type { Logger } from '@sluice/telemetry';
import type { NewAuditEntry } from '../audit/chain.ts';
import { commitEntries } from '../database/change.ts';
import type { DatabaseClient } from '../database/client.ts';
import { isDatabaseAway } from '../database/faults.ts';

/**
 * Resolves when the entry of a refused change is in the log, or cannot be written; at once where it was refused because the database
 * did not answer, whose caller would wait for that once more. It is written then, too, if it can be. Never rejects.
 */
export type RecordRefusal = (entry: NewAuditEntry, cause: unknown) => Promise<void>;

interface Waiting {
  readonly entry: NewAuditEntry;
  readonly done: () => void;
}

const atOnceMax = 100;

/**
 * A change that was refused is part of the log too, and costs nearly as much as
 * one that was made: those of an organisation that come while others are
 * written are written together.
 */
export function createRecordRefusal(parts: {
  client: DatabaseClient;
  logger: Logger;
}): RecordRefusal {
  /** By organisation; one that is in here is being written for. */
  const waiting = new Map<string, Waiting[]>();

  async function writeAllOf(organisationId: string, list: Waiting[]): Promise<void> {
    waiting.set(organisationId, list);
    while (list.length > 0) {
      const taken = list.splice(0, atOnceMax);
      await write(taken.map(({ entry }) => entry));
      for (const { done } of taken) done();
    }
    waiting.delete(organisationId);
  }

  async function write(entries: readonly NewAuditEntry[]): Promise<void> {
    try {
      await commitEntries(parts.client, entries);
    } catch (error) {
      // What is wrong with one of them is no reason to lose the others.
      if (entries.length > 1) await Promise.all(entries.map((entry) => write([entry])));
      // Failing to write it must not hide the refusal itself.
      else
        parts.logger.error(
          { request_id: entries[0]?.requestId, err: error },
          'audit entry of a refused change was not written',
        );
    }
  }

  return (entry, cause) =>
    new Promise((done) => {
      if (isDatabaseAway(cause)) done();
      const list = waiting.get(entry.organisationId);
      if (list === undefined) void writeAllOf(entry.organisationId, [{ entry, done }]);
      else list.push({ entry, done });
    });
}
