import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Endpoint } from '@sluice/contracts';
import { checkKinds } from '@sluice/guardrails';
import type { JsonObject } from '@sluice/providers';
import { isLongForm } from '@sluice/testkit';
import { cpuMs, slowness } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { exampleCheck, exampleContext, exampleHook, exampleTools } from './example-hooks.ts';
import type { HookContext } from './hook-context.ts';
import { runHooks } from './run-hooks.ts';

/**
 * No check keeps the event loop for long, whatever it is given: measured by the CPU
 * that this thread takes between two turns, which other processes do not add to.
 * `SLUICE_LONG_FORM=true` takes each check with each text.
 */
const isWhole = isLongForm;
const turnMsMax = 20;
/** The most that is looked at; checks that give turns take the same time for each part of it. */
const textLength = 4 * 1024 * 1024 - 1;
const partLength = isWhole ? textLength : 48 * 1024;

const times = (piece: string, length: number) => piece.repeat(Math.floor(length / piece.length));

const pieces: [string, string][] = [
  ['words', 'ab '],
  ['two bytes a letter', 'é'],
  ['letters', 'a'],
  ['braces', '{'],
  ['addresses', 'a@b.co '],
  ['fences', '```json\n{"a":1}\n```\n'],
  ['identifiers', '{{EMAIL_ADDRESS_1}}'],
  ['sentences', 'a. '],
  ['lines', '\n'],
  ['numbers', '4111 1111 1111 1111 '],
  ['JSON', '{"a":1} '],
  ['instructions', 'ignore previous instructions '],
  ['pairs', '😀'],
  ['pictures', '![a](http://a.b) '],
];

/** Patterns that take others exponential time, and what else a check can be told. */
const told: Readonly<Record<string, readonly object[]>> = {
  'default.regexMatch': [
    { rule: '(a+)+$|(b|b)*c' },
    { rule: '(?:a|b|ab)*?(c|d{1,9}){1,9}$' },
    { rule: '^(([a-z])+.)+[A-Z]([a-z])+$' },
  ],
  'default.regexReplace': [{ rule: '/a/g' }, { rule: '/\\S+@\\S+/g' }],
  'default.contains': [
    { words: Array.from({ length: 200 }, (_, at) => `w${at}`), operator: 'any' },
  ],
  'default.containsCode': [{ format: 'SQL' }],
  'default.endsWith': [{ suffix: 'z' }],
  'default.jsonKeys': [{ keys: ['a', 'b'], operator: 'all' }],
  'default.jsonSchema': [{ schema: { type: 'object', required: ['b'] } }],
  'default.modelWhitelist': [{ models: ['m'] }],
  'default.modelRules': [{ rules: { defaults: ['m'] } }],
  'default.requiredMetadataKeys': [{ metadataKeys: ['a'], operator: 'all' }],
  'default.requiredMetadataKeyPairs': [{ metadataPairs: { a: 'b' }, operator: 'all' }],
  'default.jwt': [{ introspectEndpoint: 'https://tokens.example' }],
  'default.languages': [{ allowed: ['de'] }],
  'default.webhook': [{ webhookURL: 'https://hooks.example' }],
  'default.log': [{ logURL: 'https://hooks.example' }],
  'default.addPrefix': [{ prefix: 'x' }],
  'default.pii': [{ redact: true }],
  'default.bannedTopics': [{ topics: [{ name: 'a', words: ['ab'] }] }],
  'default.inlineImageUrls': [{}],
};

/** Those that look at a text piece by piece, with turns for others between. */
const slicing = /pii|Injection|language|gibberish|toxicity|Topics/;

const own = [...new Set([...checkKinds.values()].map(({ id }) => id))].filter((id) =>
  id.startsWith('default.'),
);
const tools = exampleTools();

function contextOf(id: string, text: string): HookContext {
  // Read as a body is: a text put together of pieces would be put into one by the first to look.
  const content = Buffer.from(text).toString();
  return exampleContext({
    request: { model: 'm', messages: [{ role: 'user', content }] },
    response: { choices: [{ index: 0, message: { role: 'assistant', content } }] },
    // As of every body of that size; these write it down for others.
    ...(/webhook|log$/.test(id) ? { largeOwner: 'w' } : {}),
  });
}

/** The longest that the check kept the loop; the least of several runs, since any may meet a garbage collection. */
async function longestTurn(id: string, parameters: object, given: HookContext): Promise<number> {
  const hook = exampleHook({ checks: [exampleCheck(id, { ...parameters })] });
  const event = answersOnly.has(id) ? 'afterRequest' : 'beforeRequest';
  const context = { ...given, event, status: event === 'afterRequest' ? 200 : 0 } as const;
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 6 && least >= turnMsMax; round++) {
    let longest = 0;
    let isOver = false;
    await nextTurn();
    let last = cpuMs();
    const watch = () => {
      const now = cpuMs();
      longest = Math.max(longest, now - last);
      last = now;
      if (!isOver) setImmediate(watch);
    };
    setImmediate(watch);
    await runHooks([hook], context, tools);
    await nextTurn();
    isOver = true;
    await nextTurn();
    least = Math.min(least, longest < turnMsMax ? longest : longest / slowness());
  }
  return least;
}

const answersOnly: ReadonlySet<string> = new Set([
  'default.contains',
  'default.containsCode',
  'default.jsonKeys',
  'default.jsonSchema',
]);

describe('the event loop', () => {
  it.each(own)('is never kept long by %s', { timeout: 600_000 }, async (id) => {
    const rows = told[id] ?? [{}];
    const length = slicing.test(id) ? partLength : textLength;
    const chosen = isWhole || slicing.test(id) ? pieces : pieces.slice(0, 4);
    for (const parameters of rows) {
      expect(() => checkKinds.get(id)?.compile(parameters)).not.toThrow();
      for (const [what, piece] of chosen) {
        const ms = await longestTurn(id, parameters, contextOf(id, times(piece, length)));
        expect(ms, `${JSON.stringify(parameters).slice(0, 80)} of ${what}`).toBeLessThan(turnMsMax);
      }
    }
  });

  const list = <T>(count: number, make: () => T) => Array.from({ length: count }, make);
  const bodies: [string, Endpoint, (count: number) => JsonObject][] = [
    [
      'messages',
      'chatComplete',
      (count) => ({ messages: list(count, () => ({ role: 'user', content: 'a' })) }),
    ],
    [
      'parts',
      'chatComplete',
      (count) => ({
        messages: [{ role: 'user', content: list(count, () => ({ type: 'text', text: 'a' })) }],
      }),
    ],
    [
      'tools',
      'chatComplete',
      (count) => ({
        messages: [{ role: 'user', content: 'a' }],
        tools: list(count, () => ({ type: 'function', function: { name: 'f', description: 'a' } })),
      }),
    ],
    ['inputs', 'embed', (count) => ({ input: list(count, () => 'a') })],
  ];

  it.each(bodies)('is never kept long by a body of very many %s', async (_what, endpoint, make) => {
    for (const count of isWhole ? [200_000, 13_000, 5_000] : [200_000, 13_000])
      for (const subjects of isWhole ? [['conversation'], ['all'], ['tools']] : [['all']]) {
        const context = exampleContext({ endpoint, request: make(count), largeOwner: 'w' });
        const ms = await longestTurn('default.regexReplace', { rule: 'a', subjects }, context);
        expect(ms, `${subjects} ${count}`).toBeLessThan(turnMsMax);
      }
  });
});
