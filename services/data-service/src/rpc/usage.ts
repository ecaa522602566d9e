import type { usage } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { UsageSink } from '../sinks/usage-sink.ts';

/** Answers after the insert. A caller that stops waiting sends the same records again. */
export function usageHandlers(sink: UsageSink): RpcHandlers<typeof usage.UsageService> {
  return {
    async writeUsage(request, { signal }) {
      await sink.write(request.records, signal);
      return {};
    },
  };
}
