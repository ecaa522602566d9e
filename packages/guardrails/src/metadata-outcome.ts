import type { CheckContext, CheckOutcome } from './check.ts';
import { satisfies } from './satisfies.ts';

export function metadataValue({ metadata }: CheckContext, key: string): string | undefined {
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined;
}

/** The verdict on which of the keys are as asked. */
export function metadataOutcome(
  operator: 'all' | 'any' | 'none',
  keys: readonly string[],
  presentKeys: string[],
): CheckOutcome {
  const verdict = satisfies(operator, presentKeys.length, keys.length);
  return {
    verdict,
    data: {
      verdict,
      explanation: `The metadata has ${presentKeys.length} of ${keys.length} keys as asked; "${operator}" is required.`,
      operator,
      presentKeys,
      missingKeys: keys.filter((key) => !presentKeys.includes(key)),
    },
  };
}
