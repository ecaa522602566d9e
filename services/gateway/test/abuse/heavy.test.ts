import { eachWith, isLongForm, json, type UpstreamReply } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply, type Scenario, startScenario } from '../scenario.ts';
import { Attack, type Case, promises, tell } from './attack.ts';
import { type Bystander, startBystander } from './bystander.ts';

/**
 * The heaviest that is still admitted: bodies and replies up to their bounds,
 * through every check, translation and rule that looks at them, while another
 * tenant's plain requests are timed.
 */
const isWhole = isLongForm;
/**
 * How many are sent at once. Beside other tests the bystander may not run between the turns of two,
 * and would take the work on both for one wait.
 */
const together = isWhole ? 2 : 1;
/** A third of one in the suite. */
const mebibyte = Math.floor((1024 * 1024) / (isWhole ? 1 : 3));

let scenario: Scenario;
let bystander: Bystander;
let attack: Attack;
beforeAll(async () => {
  scenario = await startScenario({
    processes: ['gateway'],
    environment: { gateway: { REQUEST_TIMEOUT: '20000' } },
  });
  scenario.upstream.handle(json(200, chatReply));
  bystander = await startBystander(scenario);
  attack = new Attack(scenario, bystander);
});
afterAll(async () => {
  await attack?.close();
  await bystander?.stop();
  await scenario?.stop();
});

interface Asked {
  body: Buffer;
  path?: string;
  provider?: string;
  config?: object;
  headers?: [string, string][];
}

function caseOf(name: string, asked: Asked): Case {
  return {
    name,
    request: () => ({
      path: asked.path ?? '/v1/chat/completions',
      headers: [
        ['content-type', 'application/json'],
        ['x-service-provider', asked.provider ?? 'openai'],
        ['x-service-custom-host', `${scenario.upstream.url}/v1`],
        ['x-service-aws-region', 'us-east-1'],
        ['x-service-aws-access-key-id', 'AKIDEXAMPLE'],
        ['x-service-aws-secret-access-key', 'secret'],
        ['authorization', 'Bearer sk-stranger'],
        ...(asked.config === undefined
          ? []
          : [['x-service-config', JSON.stringify(asked.config)] as [string, string]]),
        ...(asked.headers ?? []),
      ],
      body: asked.body,
    }),
  };
}

function chatOf(content: string): Buffer {
  return Buffer.from(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":${content}}]}`);
}

function times(piece: string, bytes: number): string {
  return piece.repeat(Math.floor(bytes / piece.length));
}

/** Texts that make readers of texts work. */
const texts: [string, string][] = [
  ['letters', `"${times('a', 9.5 * mebibyte)}"`],
  ['words', `"${times('ab ', 9.5 * mebibyte)}"`],
  ['sentences', `"${times('a. ', 9.5 * mebibyte)}"`],
  ['backticks', `"${times('```', 9.5 * mebibyte)}"`],
  ['open braces', `"${times('{', 9.5 * mebibyte)}"`],
  ['JSON in text', `"${times('{\\"a\\":1} ', 9.5 * mebibyte)}"`],
  ['escapes', `"${times('\\u00e9', 9.5 * mebibyte)}"`],
];

const checks: [string, object][] = [
  ['regexMatch', { rule: '(a+)+$|(b|b)*c' }],
  ['regexMatch', { rule: '(?:a|b|ab)*?(c|d{1,30}){1,20}$' }],
  ['regexReplace', { rule: 'a', redactText: '[REDACTED]' }],
  ['regexReplace', { rule: '\\S+@\\S+' }],
  ['sentenceCount', { minSentences: 1, maxSentences: 5 }],
  ['wordCount', { minWords: 1, maxWords: 5 }],
  ['characterCount', { minCharacters: 1, maxCharacters: 5 }],
  ['contains', { words: Array.from({ length: 500 }, (_, at) => `word${at}`), operator: 'any' }],
  ['endsWith', { suffix: 'z' }],
  ['alluppercase', {}],
  ['alllowercase', {}],
  ['containsCode', { format: 'SQL' }],
  ['containsCode', { format: 'JSON' }],
  ['jsonKeys', { keys: ['a', 'b'], operator: 'all' }],
  ['notNull', {}],
  ['modelWhitelist', { models: ['gpt-4o-mini'] }],
  ['requestParametersCheck', { params: { model: { values: ['gpt-4o-mini'] } } }],
  ['addPrefix', { prefix: 'x'.repeat(1000) }],
];

/** Values of all sorts, as many as a body may have. */
const bodies: [string, string][] = [
  [
    'many messages',
    `[${times('{"role":"user","content":"a"},', 9 * mebibyte)}{"role":"user","content":"a"}]`,
  ],
  [
    'fewer messages',
    `[${times('{"role":"user","content":"a"},', mebibyte)}{"role":"user","content":"a"}]`,
  ],
  [
    'many parts',
    `[{"role":"user","content":[${times('{"type":"text","text":"a"},', mebibyte)}{"type":"text","text":"a"}]}]`,
  ],
  [
    'many calls',
    `[{"role":"assistant","tool_calls":[${times('{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},', mebibyte)}{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}]`,
  ],
  [
    'nested arguments',
    `[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"${times('[', 4 * mebibyte)}"}}]}]`,
  ],
  [
    'a large picture',
    `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${times('A', 9 * mebibyte)}"}}]}]`,
  ],
  ['deep values', `[${'['.repeat(190)}${']'.repeat(190)}]`],
];

const formats = ['openai', 'anthropic', 'google', 'bedrock', 'cohere'];

describe('the heaviest requests', () => {
  const timeout = isWhole ? 600_000 : 120_000;

  it('through each check delay nobody else', { timeout }, async () => {
    const cases = eachWith(checks, texts).map(([[id, parameters], [what, text]]) =>
      caseOf(`${id} ${JSON.stringify(parameters).slice(0, 60)} of ${what}`, {
        body: chatOf(text),
        config: {
          before_request_hooks: [
            { id: 'h', type: 'guardrail', checks: [{ id: `default.${id}`, parameters }] },
          ],
        },
      }),
    );
    await attack.send(cases, together);
    tell('checks of the longest texts', cases.length, attack.outcome());
  });

  it('in each format delay nobody else', { timeout }, async () => {
    const cases = eachWith(formats, bodies).map(([provider, [what, messages]]) =>
      caseOf(`${what} to ${provider}`, {
        provider,
        body: Buffer.from(`{"model":"gpt-4o-mini","messages":${messages}}`),
      }),
    );
    await attack.send(cases, together);
    tell('bodies to each format', cases.length, attack.outcome());
  });

  it('through each rule of a config delay nobody else', { timeout }, async () => {
    const [, words] = texts[1] as [string, string];
    const manyMessages = Buffer.from(`{"model":"gpt-4o-mini","messages":${bodies[1]?.[1]}}`);
    const rules: [string, object][] = [
      ['cache', { cache: { mode: 'simple' } }],
      ['override_params', { override_params: { temperature: 0.5 } }],
      [
        'drop_params',
        { drop_params: Array.from({ length: 200 }, (_, at) => `messages[*].a${at}`) },
      ],
      ['default_params', { default_params: { user: 'u' } }],
      [
        'conditions',
        {
          strategy: {
            mode: 'conditional',
            conditions: Array.from({ length: 100 }, () => ({
              query: { 'params.messages': { $regex: '(a+)+$' } },
              // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
              then: 'a',
            })),
            default: 'a',
          },
          targets: [{ name: 'a', provider: 'openai' }],
        },
      ],
      [
        'sticky fields',
        {
          strategy: {
            mode: 'loadbalance',
            sticky: {
              enabled: true,
              hash_fields: Array.from({ length: 20 }, () => 'params.messages'),
            },
          },
          targets: [{ provider: 'openai' }, { provider: 'openai' }],
        },
      ],
    ];
    const sizes: [string, Buffer][] = [
      ['one text', chatOf(words)],
      ['many messages', manyMessages],
    ];
    const cases = eachWith(rules, sizes).map(([[what, config], [size, body]]) =>
      caseOf(`${what} of ${size}`, { body, config }),
    );
    await attack.send(cases, together);
    tell('rules of configs', cases.length, attack.outcome());
  });

  it('as prompts, forms and explanations delay nobody else', { timeout }, async () => {
    const form = (parts: string) => ({
      path: '/v1/audio/transcriptions',
      body: Buffer.from(`${parts}--b--\r\n`),
      headers: [['content-type', 'multipart/form-data; boundary=b']] as [string, string][],
    });
    const field = (name: string, data: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${data}\r\n`;
    const formCase = (name: string, parts: string): Case => {
      const { path, body, headers } = form(parts);
      const plain = caseOf(name, { path, body }).request();
      return {
        name,
        request: () => ({
          ...plain,
          headers: [...plain.headers.filter(([header]) => header !== 'content-type'), ...headers],
        }),
      };
    };
    await attack.send(
      [
        formCase('a thousand fields', times(field('a', 'x'), 60_000)),
        formCase('boundaries that are none', field('file', times('--b', 9 * mebibyte))),
        formCase(
          'boundaries at the start of lines',
          field('file', times('\r\n--bx', 9 * mebibyte)),
        ),
        formCase('blanks after a boundary', `--b${times(' ', 9 * mebibyte)}x`),
        formCase('large fields', times(field('prompt', times('x', mebibyte - 1000)), 9 * mebibyte)),
        caseOf('an explanation of a large body', {
          path: '/v1/explain',
          body: chatOf((texts[0] as [string, string])[1]),
        }),
        caseOf('count_tokens', {
          path: '/v1/messages/count_tokens',
          body: chatOf((texts[1] as [string, string])[1]),
        }),
      ],
      together,
    );
    tell('forms and explanations', 7, attack.outcome());
  });
});

describe('the heaviest replies', () => {
  const timeout = isWhole ? 600_000 : 120_000;
  const event = (data: string) => `data: ${data}\n\n`;
  const delta = '{"choices":[{"index":0,"delta":{"content":"a"}}]}';

  /** What an upstream of the caller's own answers. */
  const replies: [string, () => UpstreamReply][] = [
    ['millions of objects', () => raw(`{"choices":[${times('{},', 15 * mebibyte)}{}]}`)],
    ['millions of numbers', () => raw(`{"data":[${times('1,', 15 * mebibyte)}1]}`)],
    [
      'one text',
      () =>
        raw(
          `{"choices":[{"index":0,"message":{"role":"assistant","content":"${times('a', 15 * mebibyte)}"}}]}`,
        ),
    ],
    ['deep nesting', () => raw(times('[', 15 * mebibyte))],
    ['more than is parsed', () => raw(`{"choices":[],"pad":"${times('a', 40 * 1024 * 1024)}"}`)],
    [
      'an error of that size',
      () => raw(`{"error":{"message":"${times('a', 15 * mebibyte)}"}}`, 400),
    ],
    ['an error of millions', () => raw(`{"error":[${times('{},', 15 * mebibyte)}{}]}`, 503)],
    ['a stream of tiny events', () => stream(times(event(delta), 6 * mebibyte))],
    ['a stream of one line', () => stream(`data: ${times('a', 15 * mebibyte)}`)],
    ['a stream of empty lines', () => stream(times('\n', 6 * mebibyte))],
    ['a stream of carriage returns', () => stream(times('\r', 6 * mebibyte))],
    ['a stream of comments', () => stream(times(':\n', 6 * mebibyte))],
    ['a stream of nested events', () => stream(event(times('[', 8 * mebibyte)))],
    ['a stream of events of objects', () => stream(event(`[${times('{},', 8 * mebibyte)}{}]`))],
  ];

  it('in each format delay nobody else', { timeout }, async () => {
    const formats = ['openai', 'anthropic', 'google'];
    const chosen = eachWith(replies, formats);
    for (const [what, make] of replies) {
      scenario.upstream.handle((request) =>
        request.headers.authorization === 'Bearer sk-bystander' ? json(200, chatReply) : make(),
      );
      const wantsStream = what.startsWith('a stream');
      await attack.send(
        chosen
          .filter(([[name]]) => name === what)
          .map(([, provider]) =>
            caseOf(`${what} from ${provider}`, {
              provider,
              body: Buffer.from(
                `{"model":"gpt-4o-mini","stream":${wantsStream},"messages":[{"role":"user","content":"a"}]}`,
              ),
            }),
          ),
        1,
      );
    }
    scenario.upstream.handle(json(200, chatReply));
    tell('replies in each format', chosen.length, attack.outcome());
  });

  it('leave the gateway small', () => {
    expect(attack.residentMb()).toBeLessThan(promises.residentMb);
  });
});

function raw(body: string, status = 200): UpstreamReply {
  return {
    async send(response) {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body);
    },
  };
}

function stream(body: string): UpstreamReply {
  return {
    async send(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(body);
    },
  };
}
