import { describe, expect, it } from 'vitest';
import {
  canonicalHeaderPrefixes,
  canonicalHeaders,
  headerPrefixes,
  headerPrefixesBehindGateway,
  spelledHeaders,
  spelledText,
  spellingOf,
} from './header-names.ts';

const aliased = headerPrefixes('x-service-', ['x-portkey-', 'x-acme-']);
const renamed = headerPrefixes('x-acme-');

describe('headerPrefixes', () => {
  it.each<[string, string, string[], string]>([
    ['upper case', 'X-Acme-', [], 'HEADER_PREFIX: "X-Acme-" must be'],
    ['no hyphen at the end', 'x-acme', [], 'HEADER_PREFIX: "x-acme" must be'],
    ['a character no header has', 'x acme-', [], 'must be'],
    ['nothing', '', [], 'must be'],
    ['a prefix of every header', 'x-', [], 'would take the header x-'],
    ['a provider’s own', 'x-service-', ['anthropic-'], 'anthropic-version'],
    ['a standard header’s', 'x-service-', ['content-'], 'content-type'],
    ['x-service- twice', 'x-service-', ['x-service-'], 'overlaps with "x-service-"'],
    ['what begins with x-service-', 'x-service-ai-', [], 'overlaps with "x-service-"'],
    ['twice the same', 'x-acme-', ['x-acme-'], 'HEADER_PREFIX_ALIASES: "x-acme-" overlaps'],
    ['one that begins with another', 'x-acme-', ['x-acme-ai-'], 'overlaps with "x-acme-"'],
    ['one that another begins with', 'x-acme-ai-', ['x-acme-'], 'overlaps with "x-acme-ai-"'],
  ])('refuses %s', (_name, main, aliases, message) => {
    expect(() => headerPrefixes(main, aliases)).toThrow(message);
  });

  it('takes prefixes that only look alike', () => {
    expect(headerPrefixes('x-acme-', ['x-acme2-', 'x-service-']).all).toEqual([
      'x-acme-',
      'x-acme2-',
      'x-service-',
    ]);
  });
});

it('a service behind gateways understands x-service- whatever the setting', () => {
  expect(headerPrefixesBehindGateway(renamed).all).toEqual(['x-service-', 'x-acme-']);
  expect(headerPrefixesBehindGateway(headerPrefixes('x-acme-', ['x-service-'])).all).toEqual([
    'x-service-',
    'x-acme-',
  ]);
  expect(headerPrefixesBehindGateway(canonicalHeaderPrefixes).isCanonical).toBe(true);
});

describe('canonicalHeaders', () => {
  it('returns its argument, unread, when x-service- is the only prefix', () => {
    const unreadable = new Proxy<Record<string, string>>(
      {},
      {
        ownKeys: () => {
          throw new Error('looked at');
        },
      },
    );
    expect(canonicalHeaders(canonicalHeaderPrefixes, unreadable)).toBe(unreadable);
    expect(spellingOf(canonicalHeaderPrefixes, unreadable)).toEqual({
      named: 'x-service-',
      replied: ['x-service-'],
    });
    expect(
      spelledHeaders(canonicalHeaderPrefixes, canonicalHeaderPrefixes.mainSpelling, unreadable),
    ).toBe(unreadable);
  });

  it('renames the main prefix and the aliases, and nothing else', () => {
    const headers = {
      'x-portkey-provider': 'openai',
      'x-acme-config': 'pc-1',
      'x-portkeyed': 'foreign',
      authorization: 'Bearer x',
    };
    expect(canonicalHeaders(aliased, headers)).toEqual({
      'x-service-provider': 'openai',
      'x-service-config': 'pc-1',
      'x-portkeyed': 'foreign',
      authorization: 'Bearer x',
    });
    expect(canonicalHeaders(renamed, { 'x-acme-config': 'pc-1' })).toEqual({
      'x-service-config': 'pc-1',
    });
  });

  it('lets the main prefix win, then the aliases in their order, however they were sent', () => {
    const all = { 'x-acme-config': 'third', 'x-portkey-config': 'second', 'x-service-config': '1' };
    expect(canonicalHeaders(aliased, all)).toEqual({ 'x-service-config': '1' });
    const { 'x-service-config': _, ...two } = all;
    expect(canonicalHeaders(aliased, two)).toEqual({ 'x-service-config': 'second' });
  });

  it('does not honour x-service- where that is not the prefix', () => {
    const headers = { 'x-service-api-key': 'stolen', 'x-service-config': 'pc-1', accept: '*/*' };
    expect(canonicalHeaders(renamed, headers)).toEqual({ accept: '*/*' });
    expect(canonicalHeaders(renamed, { ...headers, 'x-acme-config': 'pc-2' })).toEqual({
      'x-service-config': 'pc-2',
      accept: '*/*',
    });
  });

  it('renames names in lists of names', () => {
    const forward = (value: string) =>
      canonicalHeaders<Record<string, string>>(aliased, { 'x-portkey-forward-headers': value })[
        'x-service-forward-headers'
      ];
    expect(forward('x-team, X-Portkey-Forward-Headers')).toBe('x-team, x-service-Forward-Headers');
    expect(forward('["x-acme-config","my-x-acme-config"]')).toBe(
      '["x-service-config","my-x-acme-config"]',
    );
  });
});

describe('spellingOf', () => {
  it.each<[string, Record<string, string>, string, string[]]>([
    ['no header of ours', { accept: '*/*' }, 'x-service-', ['x-service-']],
    ['the main prefix', { 'x-service-config': '' }, 'x-service-', ['x-service-']],
    ['an alias alone', { 'x-acme-config': '' }, 'x-acme-', ['x-service-', 'x-acme-']],
    [
      'main and alias',
      { 'x-acme-config': '', 'x-service-provider': '' },
      'x-service-',
      ['x-service-', 'x-acme-'],
    ],
    [
      'two aliases',
      { 'x-acme-config': '', 'x-portkey-provider': '' },
      'x-portkey-',
      ['x-service-', 'x-portkey-', 'x-acme-'],
    ],
  ])('a request with %s', (_name, headers, named, replied) => {
    expect(spellingOf(aliased, headers)).toEqual({ named, replied });
  });
});

describe('replies', () => {
  const spelling = spellingOf(aliased, { 'x-portkey-config': '' });

  it('carry our headers under the main prefix and the alias that was used', () => {
    const headers = { 'x-service-trace-id': 't', 'content-type': 'application/json' };
    expect(spelledHeaders(aliased, spelling, headers)).toEqual({
      'x-service-trace-id': 't',
      'x-portkey-trace-id': 't',
      'content-type': 'application/json',
    });
    expect(spelledHeaders(renamed, renamed.mainSpelling, headers)).toEqual({
      'x-acme-trace-id': 't',
      'content-type': 'application/json',
    });
  });

  it('do not pass on what an upstream says under a prefix of ours', () => {
    const headers = {
      'x-service-trace-id': 'ours',
      'x-portkey-trace-id': 'theirs',
      'x-acme-a': '',
    };
    expect(spelledHeaders(aliased, spelling, headers)).toEqual({
      'x-service-trace-id': 'ours',
      'x-portkey-trace-id': 'ours',
    });
  });

  it('name headers in messages as the caller spells them', () => {
    expect(spelledText(spelling, 'send x-service-config or x-service-provider')).toBe(
      'send x-portkey-config or x-portkey-provider',
    );
    const text = 'send x-service-config';
    expect(spelledText(aliased.mainSpelling, text)).toBe(text);
  });
});

/** Every set of headers that can be made of these names. */
function* everySet(names: readonly string[]): Generator<Record<string, string>> {
  for (let set = 0; set < 2 ** names.length; set++)
    yield Object.fromEntries(
      names.filter((_, index) => (set >> index) & 1).map((name) => [name, `value of ${name}`]),
    );
}

it.each([
  ['aliases', aliased],
  ['another prefix', renamed],
  ['another prefix and x-service- as its alias', headerPrefixes('x-acme-', ['x-service-'])],
])(
  'with %s, what is sent under our prefixes comes out canonical, and nothing is invented',
  (_name, prefixes) => {
    const names = ['x-service-', 'x-acme-', 'x-portkey-', 'x-other-'].flatMap((prefix) => [
      `${prefix}config`,
      `${prefix}a`,
    ]);
    for (const headers of everySet(names)) {
      const result = canonicalHeaders(prefixes, headers);
      const expected: Record<string, string> = {};
      for (const [name, value] of Object.entries(headers)) {
        const prefix = prefixes.all.find((own) => name.startsWith(own));
        if (prefix === undefined && !name.startsWith('x-service-')) expected[name] = value;
      }
      for (const prefix of prefixes.all.toReversed())
        for (const rest of ['config', 'a']) {
          const value = headers[`${prefix}${rest}`];
          if (value !== undefined) expected[`x-service-${rest}`] = value;
        }
      expect(result).toEqual(expected);
    }
  },
);
