import type { ParametersOf } from '@sluice/contracts/checks';
import { compilePattern, matches } from './pattern.ts';

type ClaimValues = NonNullable<ParametersOf<'default.jwt'>['claimValues']>;

export interface ClaimRule {
  readonly name: string;
  readonly holds: (values: readonly string[]) => boolean;
}

/** What each claim must be. A list holds what any of its items holds. */
export function claimRules(claims: ClaimValues): ClaimRule[] {
  return Object.entries(claims).map(([name, { values, matchType }]) => {
    const expected = Array.isArray(values) ? values : [values];
    return { name, holds: holder(matchType, expected, `claimValues.${name}`) };
  });
}

function holder(
  matchType: ClaimValues[string]['matchType'],
  expected: readonly string[],
  parameter: string,
): ClaimRule['holds'] {
  switch (matchType) {
    case 'exact':
      return (values) => values.some((value) => expected.includes(value));
    case 'contains':
      return (values) => values.some((value) => expected.some((text) => value.includes(text)));
    case 'containsAll':
      return (values) => expected.every((text) => values.some((value) => value.includes(text)));
    case 'regex': {
      const patterns = expected.map((source) => compilePattern({ source, flags: '' }, parameter));
      return (values) => values.some((value) => patterns.some((one) => matches(one, value)));
    }
  }
}

export function claimFaults(
  payload: Readonly<Record<string, unknown>>,
  rules: readonly ClaimRule[],
): string[] {
  return rules
    .filter(
      ({ name, holds }) => !holds(valuesOf(Object.hasOwn(payload, name) ? payload[name] : [])),
    )
    .map(({ name }) => `The claim ${name} is not as asked.`);
}

function valuesOf(claim: unknown): string[] {
  const items = Array.isArray(claim) ? claim : [claim];
  return items.filter((item) => ['string', 'number', 'boolean'].includes(typeof item)).map(String);
}
