import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { compileSafeRegex } from './safe-regex.ts';

function isExponential(pattern: string, flags = ''): boolean {
  const result = compileSafeRegex(pattern, flags);
  if (!result.ok) throw new Error(result.fault);
  return result.regex.isExponential;
}

describe('isExponential', () => {
  it.each([
    '(a+)+$',
    '(a|a)*b',
    '^(\\w+\\s?)*$',
    '(.*.*)*x',
    '([a-z]+)+[0-9]',
    '(a*)*$',
    '(a?b?)*c',
    '^(\\d{1,3}\\.?)+$',
    '(ab|a|b)*c',
    '(x+x+)+y',
    '([a-zA-Z]+)*[0-9]!',
    '(a|[^b])*$',
  ])('%s is', (pattern) => {
    expect(isExponential(pattern)).toBe(true);
  });

  it.each([
    '^gpt-4',
    '^(foo|bar)*$',
    '^([a-z]+-)*[a-z]+$',
    '.*foo.*bar.*',
    '\\d+\\.\\d+',
    '^[\\w.+-]+@[\\w-]+\\.[\\w.]+$',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '(a|b|c)+d',
    '^(?:claude|gpt|gemini)(?:-[a-z0-9.]+)*$',
    '^"(?:[^"\\\\]|\\\\.)*"$',
    'a*a*a*b',
  ])('%s is not', (pattern) => {
    expect(isExponential(pattern)).toBe(false);
  });

  it('knows letters of either case', () => {
    expect(isExponential('(a|A)*b')).toBe(false);
    expect(isExponential('(a|A)*b', 'i')).toBe(true);
  });

  it('takes few milliseconds for the largest patterns', () => {
    const spentMs = ownTime();
    isExponential(`(${'[a-y]?'.repeat(100)})*z`);
    isExponential(`(${'[a-y]'.repeat(110)}|${'[b-z]'.repeat(9)})*0`);
    expect(spentMs()).toBeLessThan(1000);
  });
});
