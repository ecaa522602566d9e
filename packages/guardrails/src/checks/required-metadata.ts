import { type AllAnyNone, allAnyNone, satisfies } from '../all-any-none.ts';
import { type CheckContext, CheckError, type CheckKind, type CheckOutcome } from '../check.ts';
import { choice, requiredRecord, requiredTexts } from '../parameters.ts';
import { compilePattern, matches } from '../pattern.ts';

export const requiredMetadataKeys: CheckKind = {
  id: 'default.requiredMetadataKeys',
  compile(parameters) {
    const keys = requiredTexts(parameters, 'metadataKeys');
    const operator = choice(parameters, 'operator', allAnyNone, 'all');
    return (context) =>
      outcome(
        operator,
        keys,
        keys.filter((key) => metadataValue(context, key) !== undefined),
      );
  },
};

/** Each pair is a key and the value, or values, that the metadata should have there. */
export const requiredMetadataKeyPairs: CheckKind = {
  id: 'default.requiredMetadataKeyPairs',
  compile(parameters) {
    const pairs = requiredRecord(parameters, 'metadataPairs');
    const keys = Object.keys(pairs);
    if (keys.length === 0)
      throw new CheckError('InvalidParameters', 'parameters.metadataPairs must have a pair.');
    const operator = choice(parameters, 'operator', allAnyNone, 'all');
    const matchType = choice(parameters, 'matchType', matchTypes, 'exact');
    const tests = keys.map((key) => ({ key, matches: matcher(matchType, textsIn(pairs[key])) }));
    return (context) => {
      const found = tests.filter(({ key, matches }) => {
        const value = metadataValue(context, key);
        return value !== undefined && matches(value);
      });
      return outcome(
        operator,
        keys,
        found.map(({ key }) => key),
      );
    };
  },
};

const matchTypes = ['exact', 'contains', 'containsAll', 'regex'] as const;

function matcher(
  matchType: (typeof matchTypes)[number],
  expected: readonly string[],
): (value: string) => boolean {
  switch (matchType) {
    case 'exact':
      return (value) => expected.includes(value);
    case 'contains':
      return (value) => expected.some((text) => value.includes(text));
    case 'containsAll':
      return (value) => expected.every((text) => value.includes(text));
    case 'regex': {
      const patterns = expected.map((rule) => compilePattern(rule));
      return (value) => patterns.some((pattern) => matches(pattern, value));
    }
  }
}

/** Metadata is text: numbers and booleans of a config are meant as such. */
function textsIn(value: unknown): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  const texts = values.map((item) =>
    typeof item === 'number' || typeof item === 'boolean' ? String(item) : item,
  );
  if (texts.length > 0 && texts.every((text) => typeof text === 'string')) return texts;
  throw new CheckError(
    'InvalidParameters',
    'parameters.metadataPairs must have texts or lists of texts as values.',
  );
}

function metadataValue({ metadata }: CheckContext, key: string): string | undefined {
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined;
}

function outcome(
  operator: AllAnyNone,
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
