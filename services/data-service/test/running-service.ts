import type { MessageInitShape } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { prepareLedger, startService, temporaryFolder } from '@sluice/testkit';
import { dayFilter } from './usage-records.ts';

export interface RunningService {
  readonly pid: number;
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
}

const token = 'a-token-of-the-tests-only';

/** The service as its own process, on ports of its choice. */
export async function runService(
  env: Record<string, string> = {},
  dataDir?: string,
): Promise<RunningService> {
  const folder = dataDir ?? (await temporaryFolder('data-service'));
  if (dataDir === undefined) await prepareLedger(folder);
  const child = await startService('data-service', {
    PORT: '0',
    GRPC_PORT: '0',
    SERVICE_CLIENT_AUTH: token,
    CLICKHOUSE_DATA_DIR: folder,
    ...env,
  });
  const ports = readyPorts(child.stderr());
  const address = `127.0.0.1:${ports.grpc_port}`;
  const rpc = createRpcClient(usage.UsageService, { address, token });
  return {
    pid: child.pid,
    httpUrl: `http://127.0.0.1:${ports.port}`,
    dataDir: folder,
    async write(records, timeoutMs = 10_000) {
      const method = usage.UsageService.method.writeUsage;
      await rpc.unary(method, { records: [...records] }, { timeoutMs });
    },
    async count(filter = {}) {
      const method = analytics.AnalyticsService.method.getGraph;
      const request = { graph: analytics.Graph.REQUESTS, filter: dayFilter(filter) };
      const { summary } = await rpc.unary(method, request, { timeoutMs: 10_000 });
      return summary.total ?? Number.NaN;
    },
    log: () => child.stderr(),
    async stop() {
      rpc.close();
      return child.stop();
    },
    async kill() {
      await child.kill();
      rpc.close();
    },
  };
}

function readyPorts(log: string): { port: number; grpc_port: number } {
  const line = log.split('\n').find((text) => text.includes('"msg":"ready"'));
  return JSON.parse(line ?? '{}') as { port: number; grpc_port: number };
}
