import type { ParametersOf } from '@sluice/contracts/checks';
import type { SafeRegex } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { CheckFunction } from '../check.ts';
import { compilePattern, matches } from '../pattern.ts';
import { excerpt, textCheck } from '../text-check.ts';

/** Searches the whole text; the pattern has no flags. */
export function regexMatch({
  rule,
  not,
  subjects,
}: ParametersOf<'default.regexMatch'>): CheckFunction {
  const pattern = compilePattern({ source: rule, flags: '' }, 'rule');
  const look = (text: string) => {
    const passes = matches(pattern, text);
    return {
      passes,
      explanation: `The text ${passes ? 'matches' : 'does not match'} the pattern.`,
      data: { regexPattern: rule, matchDetails: passes ? firstMatch(pattern, text) : null },
    };
  };
  return textCheck({ not, subjects }, look, { seeks: not });
}

/** Where it matches. Knowing that it does is cheaper, and sometimes all that can be had. */
function firstMatch(pattern: SafeRegex, text: string): JsonObject | null {
  try {
    const match = pattern.find(text);
    if (match === undefined) return null;
    return { matchedText: excerpt(match.text), index: match.index };
  } catch {
    // It would take too many steps.
    return null;
  }
}
