import { compileSafeRegex, type SafeRegex } from '@sluice/engine';
import { CheckError } from './check.ts';

export interface Rule {
  source: string;
  flags: string;
}

/** A rule is a bare pattern, or `/pattern/flags`. */
export function parseRule(rule: string): Rule {
  const delimited = /^\/(.+)\/([gimsuyd]*)$/s.exec(rule);
  return delimited === null
    ? { source: rule, flags: '' }
    : { source: delimited[1] as string, flags: delimited[2] as string };
}

/**
 * The pattern of a parameter.
 * @throws CheckError when it is not valid, or cannot be run safely
 */
export function compilePattern({ source, flags }: Rule, parameter: string): SafeRegex {
  const result = compileSafeRegex(source, withoutUnicode(source, flags));
  if (result.ok) return result.regex;
  throw new CheckError('InvalidPattern', `The pattern ${result.fault}.`, parameter);
}

/** The flag `u` says nothing about a pattern that has none of what it brings. */
function withoutUnicode(source: string, flags: string): string {
  return /\\[pPu]\{|[\ud800-\udfff]/.test(source) ? flags : flags.replace('u', '');
}

/** @throws CheckError when there is no match in as much of the text as can be searched */
export function matches(pattern: SafeRegex, text: string): boolean {
  if (pattern.test(text)) return true;
  if (text.length <= pattern.textMax) return false;
  throw tooLong(pattern);
}

/** @throws CheckError when the text is too long to be searched to its end */
export function replaceIn(pattern: SafeRegex, text: string, replacement: string): string {
  if (text.length > pattern.textMax) throw tooLong(pattern);
  return pattern.replace(text, replacement);
}

function tooLong({ textMax }: SafeRegex): CheckError {
  return new CheckError(
    'TextTooLong',
    `The text is longer than the ${textMax} characters that this pattern is searched for in.`,
  );
}
