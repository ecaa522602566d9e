import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { createQuestions, questionLimits } from '../queries/questions.ts';
import type { ClickHouse } from './clickhouse.ts';
import { openEmbedded } from './embedded-engine.ts';
import { catchUp, type Replication } from './replication.ts';
import { statementSettings } from './statement-settings.ts';

/** A server elsewhere, or the engine inside this process. */
export type ClickHousePlace =
  | { url: string; replication?: Replication | undefined }
  | { dataDir: string };

/** Opens ClickHouse. A server need not be there yet: calls fail until it is. */
export async function connectClickHouse(place: ClickHousePlace): Promise<ClickHouse> {
  if ('dataDir' in place) return openEmbedded(place.dataDir);
  const options = {
    url: place.url,
    application: 'sluice-data-service',
    request_timeout: 30_000,
    // Whoever asks is told of faults, and logs them as lines of JSON.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      ...statementSettings,
      ...wholeAnswers,
      ...(place.replication === undefined ? {} : replicaSettings),
    },
  };
  // Each has connections of its own, and waits for no others.
  const [client, intake] = [createClient(options), createClient(options)];
  const asked = createClient({
    ...options,
    clickhouse_settings: { ...options.clickhouse_settings, ...questionSettings },
  });
  return {
    client,
    intake,
    questions: createQuestions(asked, { ...questionLimits, atOnce: questionsAtOnce }),
    async insertBlock(table, { columns, bytes }) {
      const { stream } = await intake.exec({
        query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT Native`,
        values: Readable.from([bytes], { objectMode: false }),
      });
      // The answer is empty; its end gives the connection back.
      await finished(stream.resume());
    },
    catchUp: async () => {
      if (place.replication !== undefined) await catchUp(client);
    },
    async close() {
      await Promise.all([client, intake, asked].map((each) => each.close()));
    },
  };
}

/** What nobody waits for any more is ended. */
const questionSettings = { cancel_http_readonly_queries_on_client_close: 1 } as const;

/**
 * What fails behind its first rows has status 200 otherwise, and the client takes the rows for the whole answer: an exception
 * is no line of its format, and of a line without an end it says nothing. Nothing here reads an answer before its end.
 */
const wholeAnswers = { wait_end_of_query: 1 } as const;

/** As many as the client has connections to a server. */
const questionsAtOnce = 10;

/**
 * Most replicas have an insert before it is answered, so that no record is lost with one of them. Two inserts of the same
 * content are two: copies of records are found by their ids, and a mark set again is set again.
 */
const replicaSettings = { insert_quorum: 'auto', insert_deduplicate: 0 } as const;
