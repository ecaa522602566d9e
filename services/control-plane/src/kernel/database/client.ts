import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import { type Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import { schemaOf } from '../names/schema-of.ts';
import { OneAtATimeClient } from './one-at-a-time-client.ts';
import { createStatementNames } from './statement-names.ts';

/** The whole client; only wiring and `changes` hold one. */
export type DatabaseClient = PrismaClient;

/** What stores work with: the client, or the transaction they are part of. */
export type Database = Prisma.TransactionClient;

/**
 * A replica that hangs, or whose machine is gone, says nothing and closes nothing: what it has locked is free after so long. Whoever
 * asks others within a transaction is done before that.
 */
const silenceMsMax = 60_000;
const statementMsMax = 15_000;

/** Of a transaction that says nothing else: Prisma's own, of two and five seconds, are over where a busy database is alive. */
const patience = { maxWait: 10_000, timeout: 20_000 };

export function createDatabaseClient(options: {
  url: string;
  connectionsMax: number;
  /** Statements that a connection keeps prepared; none without it. */
  preparedMax?: number;
  /** A statement without an answer for so long has a server that hangs. */
  answersMs?: number;
}): DatabaseClient {
  const schema = schemaOf(options.url);
  const pool = new Pool({
    Client: OneAtATimeClient,
    connectionString: options.url,
    max: options.connectionsMax,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    // A query that hangs must not hold its connection, and the caller, for ever.
    query_timeout: options.answersMs ?? 20_000,
    keepAlive: true,
    application_name: 'sluice-control-plane',
    // Not in what a connection says first: poolers refuse parameters that they do not know.
    onConnect: async (connection) => {
      await connection.query(
        `SET search_path = "${schema}"; SET statement_timeout = ${statementMsMax}; SET idle_in_transaction_session_timeout = ${silenceMsMax}`,
      );
    },
  });
  // The query under way is told of a lost connection, or the next one that is given it. Between
  // the two nobody listens, and an error that nobody hears would end the process.
  pool.on('connect', (connection) => connection.on('error', () => {}));
  const adapter = new PrismaPg(pool, {
    schema,
    disposeExternalPool: true,
    statementNameGenerator: createStatementNames(options.preparedMax ?? 0),
  });
  return new PrismaClient({ adapter, transactionOptions: patience });
}
