import { piiKinds } from '@sluice/contracts/checks';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import type { CheckContext, CheckOutcome } from '../check.ts';
import { CheckError } from '../check.ts';
import { checkKinds } from '../check-kinds.ts';
import { answering, asking, contentOf, exampleContext } from '../example-contexts.ts';
import { measurePii } from '../labelled/measure.ts';
import { PiiFinder } from './find-pii.ts';
import { Identifiers } from './identifiers.ts';
import { keccak256 } from './keccak256.ts';
import { Redactor } from './redact.ts';
import { Restorer } from './restorer.ts';

async function run(parameters: object, context: CheckContext): Promise<CheckOutcome | string> {
  try {
    const kind = checkKinds.get('default.pii');
    if (kind === undefined) throw new Error('there is no check');
    return await kind.compile(parameters).run(context);
  } catch (error) {
    if (error instanceof CheckError) return error.name;
    throw error;
  }
}

async function verdictOf(parameters: object, context: CheckContext) {
  const outcome = await run(parameters, context);
  return typeof outcome === 'string' ? outcome : outcome.verdict;
}

async function redacted(parameters: object, content: string) {
  const outcome = await run({ redact: true, ...parameters }, asking(content));
  return typeof outcome === 'string' ? outcome : contentOf(outcome.request);
}

const finder = new PiiFinder({
  categories: ['EMAIL_ADDRESS', 'CREDIT_CARD', 'PHONE_NUMBER', 'SECRET', 'NATIONAL_ID', 'IBAN'],
  regions: ['US'],
  own: [],
  allowed: new Set(),
});

describe('default.pii', () => {
  it.each([
    ['fails on what it finds', {}, 'me: a@b.example', false],
    ['passes without', {}, 'nothing here', true],
    ['turned, passes on what it finds', { not: true }, 'me: a@b.example', true],
    ['turned, fails without', { not: true }, 'nothing here', false],
    ['looks for the categories that are named', { categories: ['IBAN'] }, 'a@b.example', true],
    ['guesses no names unless it is told to', {}, 'My name is Ada Lovelace', true],
    [
      'guesses names when it is told to',
      { categories: ['PERSON'] },
      'My name is Ada Lovelace',
      false,
    ],
    ['takes numbers of its regions', { regions: ['DE'] }, 'Tel. 030 303986300', false],
    ['takes none of other regions', { regions: ['US'] }, 'Tel. 030 303986300', true],
    [
      'finds patterns of the config',
      { patterns: [{ name: 'CASE', rule: 'C-\\d+' }] },
      'C-12',
      false,
    ],
    [
      'finds words of the config',
      { lists: [{ name: 'CODE', words: ['Blue Fox'] }] },
      'a blue fox!',
      false,
    ],
    ['finds no parts of words', { lists: [{ name: 'CODE', words: ['fox'] }] }, 'firefox', true],
    ['lets be what is allowed', { allow: ['A@B.example'] }, 'a@b.example', true],
    ['cannot decide without a text', {}, '', 'NothingToCheck'],
    ['takes no unknown country', { regions: ['ZZ'] }, 'a', 'InvalidParameters'],
    ['takes no broken pattern', { patterns: [{ name: 'A', rule: '(' }] }, 'a', 'InvalidPattern'],
    [
      'takes no name that is no identifier',
      { lists: [{ name: 'a b', words: ['x'] }] },
      'a',
      'InvalidParameters',
    ],
  ])('%s', async (_what, parameters, text, expected) => {
    expect(await verdictOf(parameters, asking(text))).toBe(expected);
    expect(await verdictOf(parameters, answering(text))).toBe(expected);
  });

  it('numbers what it redacts, the same thing alike however it is written', async () => {
    expect(
      await redacted(
        {},
        'A@b.example wrote to c@d.example; a@b.example paid with 4111 1111-1111 1111, 4111111111111111',
      ),
    ).toBe(
      '{{EMAIL_ADDRESS_1}} wrote to {{EMAIL_ADDRESS_2}}; {{EMAIL_ADDRESS_1}} paid with {{CREDIT_CARD_1}}, {{CREDIT_CARD_1}}',
    );
  });

  it('passes when all that was found is redacted, and tells kinds and no values', async () => {
    const outcome = await run({ redact: true }, asking('a@b.example'));
    expect(outcome).toMatchObject({ verdict: true, data: { detected: { EMAIL_ADDRESS: 1 } } });
    expect(JSON.stringify((outcome as CheckOutcome).data)).not.toContain('b.example');
  });

  it('redacts answers, and every text that it is told to look at', async () => {
    const outcome = await run({ redact: true }, answering('I am a@b.example'));
    expect(JSON.stringify((outcome as CheckOutcome).response)).toContain('{{EMAIL_ADDRESS_1}}');
    const messages = [
      { role: 'user', content: 'a@b.example' },
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: 'c@d.example and a@b.example' },
    ];
    const whole = await run(
      { redact: true, subjects: ['conversation'] },
      exampleContext({ request: { model: 'm', messages } }),
    );
    expect(JSON.stringify((whole as CheckOutcome).request)).toContain(
      '{{EMAIL_ADDRESS_2}} and {{EMAIL_ADDRESS_1}}',
    );
  });

  it('uses no identifier that a text has already', async () => {
    expect(await redacted({}, '{{EMAIL_ADDRESS_1}} is a@b.example')).toBe(
      '{{EMAIL_ADDRESS_1}} is {{EMAIL_ADDRESS_2}}',
    );
  });

  it('redacts inputs of embeddings too: an error that passes would send them', async () => {
    const request = { input: ['to a@b.example', 'plain', 'and a@b.example'] };
    const context = exampleContext({ endpoint: 'embed', request });
    expect(await run({ redact: true }, context)).toMatchObject({
      verdict: true,
      request: { input: ['to {{EMAIL_ADDRESS_1}}', 'plain', 'and {{EMAIL_ADDRESS_1}}'] },
    });
  });

  it.each([
    ['digits of full width', '４１１１ １１１１ １１１１ １１１１'],
    ['nothing wide between digits', [...'4111111111111111'].join('\u200b')],
    ['soft hyphens', '4111\u00ad1111\u00ad1111\u00ad1111'],
    [
      'mathematical digits',
      [...'4111111111111111']
        .map((digit) => String.fromCodePoint(0x1d7ce + Number(digit)))
        .join(''),
    ],
    ['narrow blanks', '4111\u202f1111\u202f1111\u202f1111'],
  ])('finds a card behind %s, and redacts all of it', async (_what, card) => {
    expect(await redacted({}, `pay ${card} now`)).toBe('pay {{CREDIT_CARD_1}} now');
  });

  it.each([
    ['lone halves of characters', '\ud800 a@b.example \udfff'],
    ['NUL', 'a\u0000 a@b.example \u0000'],
    ['a text of one kind of mark', '@'.repeat(1000)],
  ])('stands %s', async (_what, text) => {
    const found = await redacted({}, text);
    expect(found).toBe(
      text.includes('b.example') ? text.replace('a@b.example', '{{EMAIL_ADDRESS_1}}') : undefined,
    );
  });

  it('finds a secret at every place of a text longer than a slice', () => {
    for (const at of [0, 8_100, 8_184, 8_191, 8_192, 8_193, 16_380, 65_530]) {
      const text = `${' '.repeat(at)}4111111111111111 ${' '.repeat(70_000 - at)}`;
      expect(finder.find(text)).toMatchObject([{ start: at, end: at + 16 }]);
    }
  });
});

describe('PiiFinder', () => {
  it('finds one after the other where nothing ends', () => {
    const begun = '-----BEGIN PRIVATE KEY-----'.repeat(2_000);
    expect(new Redactor([]).redact(begun, finder.find(begun))).not.toContain('BEGIN');
  });

  const length = 128 * 1024;
  const hostile = [
    '1',
    '4 1 ',
    '@',
    'a@a.',
    '１',
    '\u200b1',
    'Ab ',
    'John ',
    'DE89 ',
    `0x${'aB'.repeat(20)} `,
    `bc1${'q'.repeat(70)} `,
    '-----BEGIN PRIVATE KEY-----',
    'eyJ',
    'http://a:b',
    'password: ',
    '(1',
    '+1 650',
    '\ud800',
    '\u0000',
  ].map((piece) => ({ piece, text: piece.repeat(length / piece.length) }));

  it.each(hostile)('has its turns short: $piece', async ({ text }) => {
    const all = new PiiFinder({
      categories: piiKinds,
      regions: ['US', 'DE'],
      own: [],
      allowed: new Set(),
    });
    let spentMs = ownTime();
    const turns: number[] = [];
    await all.findInTurns(text, async () => {
      turns.push(spentMs());
      spentMs = ownTime();
    });
    // The middle one of all, since any may meet a collection of garbage.
    expect(turns.sort((a, b) => a - b)[Math.floor(turns.length / 2)]).toBeLessThan(20);
  });

  it('knows what stands in the labelled lines', () => {
    const { qualities, faults } = measurePii();
    for (const { kind, precision, recall } of qualities) {
      const isGuess = kind === 'PERSON' || kind === 'LOCATION';
      expect([kind, precision >= (isGuess ? 0.85 : 0.98), faults]).toEqual([kind, true, faults]);
      expect([kind, recall >= (isGuess ? 0.75 : 0.98), faults]).toEqual([kind, true, faults]);
    }
  });
});

describe('keccak256', () => {
  it('is Ethereum’s', () => {
    expect(keccak256('')).toBe('c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  });
});

describe('Identifiers', () => {
  it('are one for a thing, whichever check finds it, and another for any other', () => {
    const identifiers = new Identifiers();
    const take = (text: string, isRestorable: boolean, of = identifiers) =>
      new Redactor([text], { identifiers: of, isRestorable }).redact(text, finder.find(text));
    expect(take('a@b.example', false)).toBe('{{EMAIL_ADDRESS_1}}');
    expect(take('c@d.example', true)).toBe('{{EMAIL_ADDRESS_2}}');
    expect(take('C@D.example', true)).toBe('{{EMAIL_ADDRESS_2}}');
    // Only what somebody wants back is kept.
    expect([...identifiers.restorable]).toEqual([['{{EMAIL_ADDRESS_2}}', 'c@d.example']]);
    // An answer's own stand for nothing that the request's stand for.
    const ofAnswer = new Identifiers(identifiers);
    expect(take('c@d.example', false, ofAnswer)).toBe('{{EMAIL_ADDRESS_3}}');
  });
});

describe('Restorer', () => {
  const original = 'From a@b.example, card 4111111111111111 {{X_1}} {{ to c@d.example{';
  const identifiers = new Identifiers();
  const redactor = new Redactor([original], { identifiers, isRestorable: true });
  const text = redactor.redact(original, finder.find(original));

  it('puts back what was redacted, split at every position', () => {
    expect(text).not.toContain('@');
    for (let at = 0; at <= text.length; at++) {
      const restorer = new Restorer(identifiers.restorable);
      const pieces = [
        restorer.push(text.slice(0, at)),
        restorer.push(text.slice(at)),
        restorer.end(),
      ];
      expect(pieces.join('')).toBe(original);
    }
  });

  it('puts back what comes letter by letter, and holds no more than it says', () => {
    const restorer = new Restorer(identifiers.restorable);
    let restored = '';
    let sent = '';
    for (const letter of text) {
      sent += letter;
      restored += restorer.push(letter);
      const plain = new Restorer(identifiers.restorable);
      const all = plain.push(sent) + plain.end();
      expect(all.length - restored.length).toBeLessThanOrEqual(restorer.heldMax);
    }
    expect(restored + restorer.end()).toBe(original);
  });

  it('changes nothing that it has not redacted', () => {
    const restorer = new Restorer(new Map());
    expect(restorer.push('{{EMAIL_ADDRESS_1}} {{') + restorer.end()).toBe('{{EMAIL_ADDRESS_1}} {{');
  });
});
