import type { ParametersOf } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import type { CheckFunction } from '../check.ts';
import { compilePattern, matches, parseRule, replaceIn } from '../pattern.ts';
import { replaced } from '../replaced.ts';
import { requiredSubject } from '../text-check.ts';

/**
 * Puts a text in the place of what the pattern finds, in each part. Without the
 * flag `g` that is the first place of a part.
 */
export function regexReplace({
  rule,
  redactText,
  failOnDetection,
  subjects,
}: ParametersOf<'default.regexReplace'>): CheckFunction {
  const pattern = compilePattern(parseRule(rule), 'rule');
  return (context) => {
    const texts = textsOf(context, subjects);
    requiredSubject(texts.joined);
    const parts = texts.parts.map((part) =>
      matches(pattern, part) ? replaceIn(pattern, part, redactText) : null,
    );
    const hasMatch = parts.some((part) => part !== null);
    const verdict = !(hasMatch && failOnDetection);
    const data = {
      verdict,
      explanation: `The pattern was ${hasMatch ? 'found and replaced' : 'not found'}.`,
      regexPattern: rule,
    };
    return { verdict, data, ...replaced(context, texts, parts) };
  };
}
