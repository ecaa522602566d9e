import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long. Whichever of them began last would have the end of the run to itself;
 * between them those that compute and those that wait take turns.
 */
const longest = [
  'control-plane/test/matrix.test.ts',
  'control-plane/test/contract.test.ts',
  'gateway/test/chaos/chaos.test.ts',
  'data-service/test/figures.test.ts',
  'gateway/test/ledger.test.ts',
  'control-plane/test/hostile-input.test.ts',
  'data-service/test/nats.test.ts',
  'gateway/test/exact-limits.test.ts',
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
