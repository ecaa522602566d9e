import type { ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { metadataOutcome, metadataValue } from '../metadata-outcome.ts';
import { compilePattern, matches } from '../pattern.ts';

type Parameters = ParametersOf<'default.requiredMetadataKeyPairs'>;

/** Each pair is a key and the value, or values, that the metadata should have there. */
export function requiredMetadataKeyPairs({
  metadataPairs,
  operator,
  matchType,
}: Parameters): CheckFunction {
  const tests = Object.entries(metadataPairs).map(([key, value]) => ({
    key,
    isMatch: matcher(matchType, textsIn(value), `metadataPairs.${key}`),
  }));
  const keys = tests.map(({ key }) => key);
  return (context) => {
    const found = tests.filter(({ key, isMatch }) => {
      const value = metadataValue(context, key);
      return value !== undefined && isMatch(value);
    });
    return metadataOutcome(
      operator,
      keys,
      found.map(({ key }) => key),
    );
  };
}

function matcher(
  matchType: Parameters['matchType'],
  expected: readonly string[],
  parameter: string,
): (value: string) => boolean {
  switch (matchType) {
    case 'exact':
      return (value) => expected.includes(value);
    case 'contains':
      return (value) => expected.some((text) => value.includes(text));
    case 'containsAll':
      return (value) => expected.every((text) => value.includes(text));
    case 'regex': {
      const patterns = expected.map((source) => compilePattern({ source, flags: '' }, parameter));
      return (value) => patterns.some((pattern) => matches(pattern, value));
    }
  }
}

/** Metadata is text: numbers and booleans of a config are meant as such. */
function textsIn(value: Parameters['metadataPairs'][string]): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(String);
}
