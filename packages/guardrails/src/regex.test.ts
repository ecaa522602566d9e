import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { type CheckContext, CheckError, type CheckOutcome } from './check.ts';
import { checkKinds } from './check-kinds.ts';
import { answering, asking, contentOf } from './example-contexts.ts';

const runs = (id: string) => (parameters: object, context: CheckContext) =>
  checkKinds.get(id)?.compile(parameters).run(context) as CheckOutcome;
const match = runs('default.regexMatch');
const replace = runs('default.regexReplace');

function faultOf(act: () => unknown): string {
  try {
    act();
    return 'none';
  } catch (error) {
    return error instanceof CheckError ? error.name : String(error);
  }
}

describe('default.regexMatch', () => {
  it.each([
    ['anywhere in the text', { rule: 'l+o' }, 'hello', true],
    ['nowhere', { rule: '^l' }, 'hello', false],
    ['without flags', { rule: 'HELLO' }, 'hello', false],
    ['slashes belong to the pattern', { rule: '/hello/i' }, 'hello', false],
    ['turned', { rule: 'hello', not: true }, 'hello', false],
    ['turned, nowhere', { rule: 'x', not: true }, 'hello', true],
  ])('%s', (_what, parameters, text, expected) => {
    expect(match(parameters, asking(text)).verdict).toBe(expected);
    expect(match(parameters, answering(text)).verdict).toBe(expected);
  });

  it('tells what it found, and where', () => {
    expect(match({ rule: 'l+' }, asking('hello')).data).toMatchObject({
      regexPattern: 'l+',
      matchDetails: { matchedText: 'll', index: 2 },
      textExcerpt: 'hello',
    });
  });

  it.each([
    ['a pattern that is not valid', { rule: '(' }, 'a', 'InvalidPattern'],
    ['a pattern that looks behind', { rule: '(?<=a)b' }, 'a', 'InvalidPattern'],
    ['no pattern', {}, 'a', 'InvalidParameters'],
    ['no text', { rule: 'a' }, '', 'NothingToCheck'],
    ['a text too long to be searched', { rule: 'b' }, 'a'.repeat(300_000), 'TextTooLong'],
  ])('cannot decide on %s', (_what, parameters, text, fault) => {
    expect(faultOf(() => match(parameters, asking(text)))).toBe(fault);
  });

  it('decides on a long text that matches in time', () => {
    expect(match({ rule: 'b' }, asking(`b${'a'.repeat(300_000)}`)).verdict).toBe(true);
  });

  it.each(['(a+)+$', '(a|a)*$', '(a|aa)+$', '(.*a){10}$', '^(\\w+\\s?)*$'])(
    'does not hang on %s',
    (rule) => {
      const spentMs = ownTime();
      const text = `${'a'.repeat(100_000)}!`;
      const fault = faultOf(() => match({ rule }, asking(text)));
      expect(['none', 'InvalidPattern', 'TextTooLong']).toContain(fault);
      expect(spentMs()).toBeLessThan(5_000);
    },
  );
});

describe('default.regexReplace', () => {
  it.each([
    ['the first place, of a bare pattern', { rule: '\\d+' }, 'a 1 b 2', 'a [REDACTED] b 2'],
    ['every place, with g', { rule: '/\\d+/g' }, 'a 1 b 2', 'a [REDACTED] b [REDACTED]'],
    ['any case, with i', { rule: '/A/gi', redactText: '-' }, 'aA', '--'],
    ['lines, with m', { rule: '/^b/m', redactText: '-' }, 'a\nb', 'a\n-'],
    ['across lines, with s', { rule: '/a.b/s', redactText: '-' }, 'a\nb', '-'],
    ['u and d', { rule: '/é/ud', redactText: '-' }, 'é', '-'],
    ['with nothing', { rule: 'x', redactText: '' }, 'axb', 'ab'],
    ['a path is a bare pattern', { rule: '/v1/chat', redactText: '-' }, 'see /v1/chat', 'see -'],
    ['groups can be used', { rule: '(a)(b)', redactText: '$2$1' }, 'ab', 'ba'],
  ])('replaces %s', (_what, parameters, text, expected) => {
    const outcome = replace(parameters, asking(text));
    expect(outcome.verdict).toBe(true);
    expect(contentOf(outcome.request)).toBe(expected);
  });

  it('replaces in each part, and leaves the others', () => {
    const image = { type: 'image_url', image_url: { url: '1' } };
    const parts = [{ type: 'text', text: '1 1' }, image, { type: 'text', text: 'none' }];
    const { request } = replace({ rule: '1', redactText: '-' }, asking(parts));
    expect(contentOf(request)).toEqual([{ type: 'text', text: '- 1' }, image, parts[2]]);
  });

  it('replaces in answers', () => {
    const { response, request } = replace({ rule: '1' }, answering('1'));
    expect(response).toEqual({
      choices: [{ index: 0, message: { role: 'assistant', content: '[REDACTED]' } }],
    });
    expect(request).toBeUndefined();
  });

  it('changes nothing where it finds nothing', () => {
    const outcome = replace({ rule: 'x' }, asking('a'));
    expect(outcome).toMatchObject({ verdict: true });
    expect(outcome.request).toBeUndefined();
  });

  it('fails on what it finds, when told to', () => {
    const parameters = { rule: '1', failOnDetection: true };
    expect(replace(parameters, asking('1')).verdict).toBe(false);
    expect(replace(parameters, asking('a')).verdict).toBe(true);
  });

  it.each([
    ['a pattern that is not valid', { rule: '/(/g' }, 'a', 'InvalidPattern'],
    ['the flag y', { rule: '/a/y' }, 'a', 'InvalidPattern'],
    ['classes that need u', { rule: '/\\p{L}/u' }, 'a', 'InvalidPattern'],
    ['no text', { rule: 'a' }, '', 'NothingToCheck'],
    ['a text too long to be searched', { rule: 'a' }, `a${'b'.repeat(300_000)}`, 'TextTooLong'],
  ])('cannot decide on %s', (_what, parameters, text, fault) => {
    expect(faultOf(() => replace(parameters, asking(text)))).toBe(fault);
  });
});
