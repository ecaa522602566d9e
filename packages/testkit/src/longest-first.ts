import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long. Whichever of them began last would have the end of the run to itself;
 * between them those that compute and those that wait take turns.
 */
const longest = [
  'control-plane/test/contract.test.ts',
  'gateway/test/chaos/chaos.test.ts',
  'gateway/test/ledger.test.ts',
  'control-plane/test/matrix.test.ts',
  'data-service/test/nats.test.ts',
  'control-plane/test/hostile-input.test.ts',
  'gateway/test/exact-limits.test.ts',
  'gateway/test/exact/four-gateways.test.ts',
  'scripts/times/times.test.ts',
  'scripts/start/start.test.ts',
  'gateway/test/large-bodies.test.ts',
  'gateway/test/outbound.test.ts',
  'gateway/test/probes-edges.test.ts',
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
