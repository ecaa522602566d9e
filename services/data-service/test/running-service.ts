import type { MessageInitShape } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import {
  prepareLedger,
  startHostedService,
  startService,
  temporaryFolder,
  waitMs,
} from '@sluice/testkit';
import { dayFilter } from './usage-records.ts';

export interface RunningService {
  readonly httpUrl: string;
  /** Of the embedded engine, for a second start on the same data. */
  readonly dataDir: string;
  write(records: readonly Uint8Array[], timeoutMs?: number): Promise<void>;
  /** Rows that analytics count, by default of the whole test day. */
  count(filter?: MessageInitShape<typeof analytics.FilterSchema>): Promise<number>;
  log(): string;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<{ code: number | null }>;
  kill(): Promise<void>;
  /** However it runs, for a test that is over. */
  end(): Promise<unknown>;
}

const token = 'a-token-of-the-tests-only';

/**
 * The service as its own process, on ports of its choice.
 * @param isHosted in the host of the worker instead, one at a time, where nobody kills it
 */
export async function runService(
  env: Record<string, string> = {},
  dataDir?: string,
  isHosted = false,
): Promise<RunningService> {
  const folder = dataDir ?? (await temporaryFolder('data-service'));
  if (dataDir === undefined) await prepareLedger(folder);
  const settings = {
    PORT: '0',
    GRPC_PORT: '0',
    SERVICE_CLIENT_AUTH: token,
    CLICKHOUSE_DATA_DIR: folder,
    ...env,
  };
  const own = isHosted ? undefined : await startService('data-service', settings);
  const running = own ?? (await startHostedService('data-service', settings));
  const ports = readyPorts(running.stderr());
  const address = `127.0.0.1:${ports.grpc_port}`;
  const rpc = createRpcClient(usage.UsageService, { address, token });
  return {
    httpUrl: `http://127.0.0.1:${ports.port}`,
    dataDir: folder,
    async write(records, timeoutMs = 10_000) {
      const method = usage.UsageService.method.writeUsage;
      await rpc.unary(method, { records: [...records] }, { timeoutMs });
    },
    async count(filter = {}) {
      const method = analytics.AnalyticsService.method.getGraph;
      const request = { graph: analytics.Graph.REQUESTS, filter: dayFilter(filter) };
      const { summary } = await rpc.unary(method, request, { timeoutMs: waitMs });
      return summary.total ?? Number.NaN;
    },
    log: () => running.stderr(),
    async stop() {
      rpc.close();
      return running.stop();
    },
    async kill() {
      if (own === undefined)
        throw new Error('It shares its process: a test that kills it has it apart.');
      await own.kill();
      rpc.close();
    },
    async end() {
      rpc.close();
      await (own === undefined ? running.stop() : own.kill());
    },
  };
}

function readyPorts(log: string): { port: number; grpc_port: number } {
  const line = log.split('\n').find((text) => text.includes('"msg":"ready"'));
  return JSON.parse(line ?? '{}') as { port: number; grpc_port: number };
}
