import { usage } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import type { UsageSink } from './publisher.ts';

/** The embedded mode: batches go straight to the data service, which answers after its insert. */
export function createGrpcSink(client: RpcClient, address: string): UsageSink {
  return {
    name: 'grpc',
    address,
    async send(batch) {
      await client.unary(
        usage.UsageService.method.writeUsage,
        { records: batch.records },
        { timeoutMs: 30_000 },
      );
    },
    async close() {
      client.close();
    },
  };
}
