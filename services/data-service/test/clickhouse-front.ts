import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { keepAliveMs, temporaryFolder } from '@sluice/testkit';
import { createChdbConnection } from 'chdb/connection';
import { blockFile } from '../src/clickhouse/block-file.ts';

export interface ClickHouseFront {
  readonly url: string;
  /** Nobody listens any more, as when the server is down. The data stays. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
  /**
   * Answers everything but pings with this exception; undefined = with what is asked. One that is late comes behind rows and
   * status 200, unless the end was to be waited for.
   */
  refusal: { code: number; type: string; isLate?: boolean } | undefined;
  /** What was asked for, in order. */
  readonly statements: readonly string[];
}

/**
 * ClickHouse's HTTP interface before the embedded engine: as much of it as the
 * client uses, so that the server mode is tested against the real SQL engine.
 * As a replica of a cluster it makes no table that the others would not have,
 * and has a Keeper's part in them taken away before the engine, which knows none.
 */
export async function startClickHouseFront({
  replicaOf,
  dataDir: given,
  port: wanted = 0,
}: {
  replicaOf?: string;
  /** A new one that the tests delete, unless given. */
  dataDir?: string;
  port?: number;
} = {}): Promise<ClickHouseFront> {
  const statements: string[] = [];
  const dataDir = given ?? (await temporaryFolder('clickhouse-front'));
  const engine = createChdbConnection({ path: dataDir });
  const file = blockFile(dataDir);
  const server: Server = createServer(
    { keepAliveTimeout: keepAliveMs },
    async (request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (url.pathname === '/ping') return response.end('Ok.\n');
      if (front.refusal !== undefined) {
        const { code, type, isLate } = front.refusal;
        const exception = `Code: ${code}. DB::Exception: No. (${type})`;
        if (isLate === true && url.searchParams.get('wait_end_of_query') !== '1')
          return response.end(`{"meta": [], "data": [${exception}`);
        return response.writeHead(500).end(exception);
      }
      try {
        const { sets, query: asked, body, format } = await statementOf(request, url);
        statements.push(asked);
        const query =
          replicaOf === undefined ? asked : ofOneServer(asked, replicaOf, url.searchParams);
        const run = async (statement: string) => {
          const result = await engine.chdb.queryAsync(`${sets}${statement}`, { format });
          response.end(result.bytes());
        };
        // The embedded engine takes no bytes beside a statement.
        const insert = /^(INSERT INTO \w+ \((.+)\)) FORMAT Native$/s.exec(query);
        if (insert === null) await run(body.length === 0 ? query : `${query}\n${body}`);
        else
          await file.hold(body, (path) =>
            run(`${insert[1]} SELECT ${insert[2]} FROM file('${path}', Native)`),
          );
      } catch (error) {
        // A server keeps nothing of what failed.
        await engine.ping({ select: true });
        response.writeHead(500).end(error instanceof Error ? error.message : String(error));
      }
    },
  );
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(wanted);
  const { port } = server.address() as AddressInfo;
  const front: ClickHouseFront = {
    statements,
    refusal: undefined,
    url: `http://default:@127.0.0.1:${port}/default`,
    down: stop,
    up: () => listen(port),
    async close() {
      await stop();
      await engine.close();
    },
  };
  return front;
}

/** Parameters and settings come in the query string, the statement there or in the body, rows in the body. */
async function statementOf(request: IncomingMessage, url: URL) {
  const body = await buffer(request);
  const inUrl = url.searchParams.get('query');
  const sets: string[] = [];
  let format = 'TabSeparated';
  for (const [name, value] of url.searchParams) {
    if (name === 'default_format') format = value;
    else if (!transport.has(name))
      sets.push(`SET ${name} = '${value.replace(/[\\']/g, '\\$&')}'; `);
  }
  return {
    sets: sets.join(''),
    ...(inUrl === null
      ? { query: body.toString('utf8'), body: Buffer.alloc(0) }
      : { query: inUrl, body }),
    format,
  };
}

const transport = new Set([
  'query',
  'query_id',
  'database',
  'session_id',
  'role',
  'wait_end_of_query',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'enable_http_compression',
]);

function ofOneServer(query: string, cluster: string, settings: URLSearchParams): string {
  const onCluster = ` ON CLUSTER ${cluster}`;
  if (/^CREATE |^ALTER /m.test(query) && !query.includes(onCluster))
    throw new Error(`Only this server would do it: ${query}`);
  if (/ENGINE = (?!Replicated)\w*MergeTree/.test(query))
    throw new Error(`Other servers would not have its rows: ${query}`);
  if (/^INSERT /m.test(query) && settings.get('insert_quorum') !== 'auto')
    throw new Error(`Only this server would have it: ${query}`);
  if (query.startsWith('SYSTEM SYNC REPLICA ')) return 'SELECT 1';
  return query.replace(onCluster, '').replace(/ENGINE = Replicated/, 'ENGINE = ');
}
