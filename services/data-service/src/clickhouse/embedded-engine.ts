import { setTimeout as delay } from 'node:timers/promises';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { lockDataDir } from '@sluice/data-dir';
import { writableFolder } from '@sluice/env';
import { textLiteral } from '../queries/parameters.ts';
import { createQuestions, questionLimits } from '../queries/questions.ts';
import { blockFile } from './block-file.ts';
import type { ClickHouse } from './clickhouse.ts';
import { statementSettings } from './statement-settings.ts';

/** The engine's types come from the client's older twin package: the same shapes under other names. */
type Connection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>;

/**
 * How many statements the engine works on at once: questions and jobs, and what is stored beside them. A connection does one thing after the other, and
 * each call that it has holds a thread of libuv's pool until it is answered, of which the process has four unless told otherwise.
 */
const connectionsOf = { work: 2, intake: 1 } as const;

const engineSettings = {
  // Reading rows in parallel gains nothing at our batch size and holds some 150 MB more.
  input_format_parallel_parsing: 0,
  // Expressions are compiled when they come for the third time, 20 to 40 ms each. Over a million records nothing is
  // quicker for it: what is asked now and then need not pay, what is asked all the time may.
  min_count_to_compile_expression: '30',
  min_count_to_compile_aggregate_expression: '30',
  min_count_to_compile_sort_description: '30',
} as const;

/** Opens the engine inside this process on its folder, which it has for itself. */
export async function openEmbedded(dataDir: string): Promise<ClickHouse> {
  // Hundreds of megabytes of native code that only this mode needs, hence the late import.
  const [{ createChdbConnection }, { drainPending }] = await Promise.all([
    import('chdb/connection'),
    import('chdb'),
  ]);
  writableFolder('CLICKHOUSE_DATA_DIR', dataDir, 0o700);
  // Before the engine looks at it; the engine's own lock says less, and later.
  const lock = await lockDataDir(dataDir, { name: 'CLICKHOUSE_DATA_DIR', waitMs: 10_000 });
  const open = () => createChdbConnection({ path: dataDir }) as unknown as Connection;
  const first = await whenUnlocked(open);
  const clientOf = (connection: Connection): ClickHouseClient =>
    createClient({
      connection,
      clickhouse_settings: { ...statementSettings, ...engineSettings },
    });
  const more = (count: number) => Array.from({ length: count }, open);
  const client = clientOf(shared([first, ...more(connectionsOf.work - 1)]));
  const intake = clientOf(shared(more(connectionsOf.intake)));
  const file = blockFile(dataDir);
  return {
    client,
    intake,
    // No more than there are connections: a job waits for the first that ends, and not behind those that wait.
    questions: createQuestions(client, { ...questionLimits, atOnce: connectionsOf.work }),
    insertBlock: (table, { columns, bytes }) =>
      file.hold(bytes, async (path) => {
        const names = columns.join(', ');
        await intake.command({
          query: `INSERT INTO ${table} (${names}) SELECT ${names} FROM file(${textLiteral(path)}, Native)`,
        });
      }),
    catchUp: async () => {},
    async close() {
      await Promise.all([client.close(), intake.close()]);
      await drainPending();
      lock.release();
    },
  };
}

/**
 * One connection of several: a call goes to the first that is free, in the order of their coming. Rows that a call had written
 * when it failed stay with the connection, which would put them before its next answer, to whomever that goes: a ping takes
 * them away before anybody else comes.
 */
function shared(connections: readonly Connection[]): Connection {
  const free = [...connections];
  const failed = new Set<Connection>();
  const waiting: ((connection: Connection) => void)[] = [];
  async function use<T>(
    call: (connection: Connection) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const connection = free.pop() ?? (await new Promise<Connection>((turn) => waiting.push(turn)));
    try {
      signal?.throwIfAborted();
      if (failed.has(connection)) await empty(connection);
      failed.add(connection);
      // An answer is whole when it comes: nothing is read from the connection afterwards.
      const answer = await call(connection);
      failed.delete(connection);
      return answer;
    } finally {
      const next = waiting.shift();
      if (next === undefined) free.push(connection);
      else next(connection);
    }
  }
  return {
    ping: (params) => use((connection) => connection.ping(params)),
    // What the engine has begun it ends: told that nobody waits, it would answer at once and keep the connection.
    query: ({ abort_signal, ...params }) =>
      use((connection) => connection.query(params), abort_signal),
    insert: (params) => use((connection) => connection.insert(params)),
    command: (params) => use((connection) => connection.command(params)),
    exec: (params) => use((connection) => connection.exec(params)),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}

async function empty(connection: Connection): Promise<void> {
  const emptied = await connection.ping({ select: true });
  if (!emptied.success) throw emptied.error;
}

/**
 * The engine locks its folder with the kernel's help, so a killed process
 * leaves no lock. One that is still dying may hold it for a moment.
 */
async function whenUnlocked<T>(open: () => T): Promise<T> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(200);
    }
  }
}
