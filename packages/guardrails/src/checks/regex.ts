import type { SafeRegex } from '@sluice/engine';
import { type JsonObject, textsOf } from '@sluice/providers';
import type { CheckKind } from '../check.ts';
import { flag, optionalText, requiredText } from '../parameters.ts';
import { compilePattern, matches, parseRule, replaceIn } from '../pattern.ts';
import { excerpt, requiredSubject, textCheck } from '../text-check.ts';

/** Searches the whole text; the pattern has no flags. */
export const regexMatch = textCheck('default.regexMatch', (parameters) => {
  const rule = requiredText(parameters, 'rule');
  const pattern = compilePattern(rule);
  return (text) => {
    const passes = matches(pattern, text);
    return {
      passes,
      explanation: `The text ${passes ? 'matches' : 'does not match'} the pattern.`,
      data: { regexPattern: rule, matchDetails: passes ? firstMatch(pattern, text) : null },
    };
  };
});

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

/**
 * Puts a text in the place of what the pattern finds, in each part. Without the
 * flag `g` that is the first place of a part.
 */
export const regexReplace: CheckKind = {
  id: 'default.regexReplace',
  compile(parameters) {
    const rule = requiredText(parameters, 'rule');
    const { source, flags } = parseRule(rule);
    const pattern = compilePattern(source, flags);
    const redactText = optionalText(parameters, 'redactText', '[REDACTED]');
    const failOnDetection = flag(parameters, 'failOnDetection');
    return (context) => {
      const texts = textsOf(context);
      requiredSubject(texts.joined);
      const replaced = texts.parts.map((part) =>
        matches(pattern, part) ? replaceIn(pattern, part, redactText) : null,
      );
      const hasMatch = replaced.some((part) => part !== null);
      const verdict = !(hasMatch && failOnDetection);
      const data = {
        verdict,
        explanation: `The pattern was ${hasMatch ? 'found and replaced' : 'not found'}.`,
        regexPattern: rule,
      };
      if (!hasMatch) return { verdict, data };
      const document = texts.replace(replaced);
      return context.event === 'beforeRequest'
        ? { verdict, data, request: document }
        : { verdict, data, response: document };
    };
  },
};
