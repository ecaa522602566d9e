import type { ParametersOf } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import type { CheckFunction } from '../check.ts';
import { jsonObjectsIn } from '../json-objects.ts';
import { satisfies } from '../satisfies.ts';
import { excerpt, requiredSubject } from '../text-check.ts';

/**
 * Of the objects in the text, the one with most of the keys is judged: so "all"
 * and "any" pass when some object satisfies them, and "none" only when all do.
 */
export function jsonKeys({
  keys,
  operator,
  subjects,
}: ParametersOf<'default.jsonKeys'>): CheckFunction {
  return (context) => {
    const text = requiredSubject(textsOf(context, subjects).joined);
    const common = { operator, textExcerpt: excerpt(text) };
    let presentKeys: string[] | undefined;
    for (const object of jsonObjectsIn(text)) {
      const present = keys.filter((key) => Object.hasOwn(object, key));
      if (presentKeys === undefined || present.length > presentKeys.length) presentKeys = present;
    }
    if (presentKeys === undefined)
      return {
        verdict: false,
        data: { verdict: false, explanation: 'The text has no JSON object.', ...common },
      };
    const found = presentKeys;
    const verdict = satisfies(operator, found.length, keys.length);
    return {
      verdict,
      data: {
        verdict,
        explanation: `The JSON has ${found.length} of ${keys.length} keys; "${operator}" is asked for.`,
        presentKeys: found,
        missingKeys: keys.filter((key) => !found.includes(key)),
        ...common,
      },
    };
  };
}
