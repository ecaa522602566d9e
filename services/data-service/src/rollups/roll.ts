import { randomInt } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { rollForm } from '../queries/entry-columns.ts';
import { knownMs } from './known-ms.ts';

export interface RollOptions {
  readonly client: ClickHouseClient;
  readonly organisationId: string;
  readonly width: number;
  /** The units, by the minutes that they begin with. */
  readonly starts: readonly number[];
  /** What was stored so long ago is seen by every question. */
  readonly slackMs: number;
  /** Writes all of the units under the number of the roll, and says which keys of metadata it left out. */
  readonly write: (roll: string) => Promise<ReadonlyMap<number, readonly string[]>>;
}

/** A roll whose beginning took longer is not written: readers know only those that are older. */
const beginMs = 30_000;

/**
 * Rolls units up under a new number: says that it begins, writes all of them, and says that they stand. What is cut off between
 * counts nowhere, and the units are rolled up again; so are those of which something changed meanwhile.
 */
export async function roll({ client, slackMs, write, ...units }: RollOptions): Promise<void> {
  const began = performance.now();
  const number = (BigInt(await knownMs(client, slackMs)) << 20n) | BigInt(randomInt(2 ** 20));
  const say = (isWhole: boolean, leftOut?: ReadonlyMap<number, readonly string[]>) =>
    client.insert({
      table: 'usage_rolls',
      values: units.starts.map((start) => ({
        organisation_id: units.organisationId,
        width: units.width,
        start,
        roll: number.toString(),
        is_whole: isWhole ? 1 : 0,
        form: rollForm,
        left_out: leftOut?.get(start) ?? [],
      })),
      format: 'JSONEachRow',
    });
  await say(false);
  if (performance.now() - began > beginMs) return;
  await say(true, await write(number.toString()));
}
