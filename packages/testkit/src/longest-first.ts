import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long. Whichever of them began last would have the end of the run to itself;
 * between them those that compute and those that wait take turns. In a fresh clone the runner knows of the others only how
 * large they are, and begins the small ones last: a file of 2 kB that takes half a minute has to be named here.
 */
const longest = [
  'control-plane/test/matrix.test.ts',
  'gateway/test/outages.test.ts',
  'control-plane/test/contract.test.ts',
  'gateway/test/chaos/chaos.test.ts',
  'scripts/images/gateway-image.test.ts',
  'data-service/test/figures.test.ts',
  'gateway/test/ledger.test.ts',
  'control-plane/test/hostile-input.test.ts',
  'data-service/test/nats.test.ts',
  'gateway/test/exact-limits.test.ts',
  'gateway/test/owned-objects.test.ts',
  'gateway/test/kept-responses.test.ts',
  'gateway/test/batches.test.ts',
  'data-service/test/analytics.test.ts',
  'gateway/test/probes-edges.test.ts',
  'data-service/test/seals.test.ts',
  'scripts/start/start.test.ts',
  'scripts/times/times.test.ts',
  'data-service/test/log-exports.test.ts',
  'gateway/test/recovered-streams.test.ts',
  'gateway/test/abuse/heavy.test.ts',
  'gateway/test/exact/four-gateways.test.ts',
  'gateway/test/outbound.test.ts',
  'gateway/test/large-bodies.test.ts',
  'data-service/test/retention.test.ts',
  'scripts/scale/scale.test.ts',
  'gateway/test/lifetime.test.ts',
  'control-plane/test/kernel/aliases.test.ts',
  'gateway/test/probes-routing.test.ts',
  'control-plane/test/read-your-writes.test.ts',
  'gateway/test/mcp/limits-and-records.test.ts',
  'gateway/test/kept-content.test.ts',
  'gateway/test/keys-and-limits.test.ts',
  'gateway/test/rotation.test.ts',
  'gateway/test/mcp/strangers.test.ts',
  'data-service/test/service.test.ts',
  'gateway/src/redis/redis-modes.test.ts',
  'gateway/test/abuse/generated.test.ts',
  'gateway/test/abuse/bodies.test.ts',
  'data-service/test/clickhouse-server.test.ts',
  'control-plane/test/ledger/run-exports.test.ts',
  'scripts/chart/chart.test.ts',
  'gateway/src/routing/state/shared-circuits.test.ts',
];

/** The order of test files: the longest first, then as the runner would have them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const at = longest.findIndex((path) => moduleId.endsWith(path));
  return at === -1 ? longest.length : at;
}
