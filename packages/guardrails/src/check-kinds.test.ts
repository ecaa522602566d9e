import type { JsonObject } from '@sluice/providers';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { type CheckContext, CheckError, type CheckOutcome } from './check.ts';
import { checkKinds, knownChecks } from './check-kinds.ts';
import { answering, asking, exampleContext } from './example-contexts.ts';

/** The verdict, or the name of the error of a check that could not decide. */
async function verdictOf(id: string, parameters: object, context: CheckContext) {
  try {
    return (await run(id, parameters, context)).verdict;
  } catch (error) {
    if (error instanceof CheckError) return error.name;
    throw error;
  }
}

async function run(id: string, parameters: object, context: CheckContext): Promise<CheckOutcome> {
  const kind = checkKinds.get(id);
  if (kind === undefined) throw new Error(`there is no check ${id}`);
  return kind.compile(parameters).run(context);
}

type Row = [what: string, parameters: object, text: string, expected: boolean | string];

const textRows: Record<string, Row[]> = {
  sentenceCount: [
    ['within', { minSentences: 1, maxSentences: 2 }, 'One. Two!', true],
    ['above', { minSentences: 1, maxSentences: 2 }, 'One. Two! Three?', false],
    ['above, turned', { minSentences: 1, maxSentences: 2, not: true }, 'A. B. C.', true],
    ['each mark counts', { minSentences: 3, maxSentences: 3 }, 'Well...', true],
    ['empty text counts 0', { minSentences: 0, maxSentences: 0 }, '', true],
    ['empty text below the minimum', { minSentences: 1, maxSentences: 9 }, '', false],
    ['one limit is missing', { minSentences: 1 }, 'One.', true],
    ['a limit is a text', { minSentences: '1', maxSentences: 2 }, 'A.', 'InvalidParameters'],
  ],
  wordCount: [
    ['within', { minWords: 2, maxWords: 3 }, ' two\n words ', true],
    ['below', { minWords: 3 }, 'two words', false],
    ['no limits', {}, 'any', true],
    ['turned', { maxWords: 1, not: true }, 'two words', true],
    ['empty text', { minWords: 0 }, '', 'NothingToCheck'],
    ['a fraction', { minWords: 1.5 }, 'a', 'InvalidParameters'],
  ],
  characterCount: [
    ['at the maximum', { maxCharacters: 3 }, 'abc', true],
    ['above', { maxCharacters: 3 }, 'abcd', false],
    ['UTF-16 units', { minCharacters: 2, maxCharacters: 2 }, '🙂', true],
    ['turned', { minCharacters: 9, not: true }, 'abc', true],
    ['empty text', {}, '', 'NothingToCheck'],
  ],
  contains: [
    ['any of', { words: ['x', 'b'], operator: 'any' }, 'a b', true],
    ['all of, one missing', { words: ['a', 'x'], operator: 'all' }, 'a b', false],
    ['all of', { words: ['a', 'b'], operator: 'all' }, 'a b', true],
    ['none of', { words: ['x'], operator: 'none' }, 'a b', true],
    ['none of, one there', { words: ['x', 'a'], operator: 'none' }, 'a b', false],
    ['letter case', { words: ['A'], operator: 'any' }, 'a b', false],
    ['within a word', { words: ['cat'], operator: 'any' }, 'concatenate', true],
    ['no words', { words: [], operator: 'any' }, 'a', 'InvalidParameters'],
    ['any is meant when nothing is said', { words: ['a', 'x'] }, 'a', true],
    ['an unknown operator', { words: ['a'], operator: 'some' }, 'a', 'InvalidParameters'],
  ],
  endsWith: [
    ['the end', { suffix: 'bye' }, 'good bye', true],
    ['one full stop after it', { suffix: 'bye' }, 'good bye.', true],
    ['two full stops', { suffix: 'bye' }, 'good bye..', false],
    ['turned', { suffix: 'bye', not: true }, 'good bye', false],
    ['no suffix', {}, 'a', 'InvalidParameters'],
    ['empty text', { suffix: 'a' }, '', 'NothingToCheck'],
  ],
  alluppercase: [
    ['upper case', {}, 'ABC 12!', true],
    ['mixed', {}, 'AbC', false],
    ['digits only', {}, '123', true],
    ['letters beyond ASCII have no case', {}, 'Aé', true],
    ['turned', { not: true }, 'abc', true],
    ['empty text', {}, '', 'NothingToCheck'],
  ],
  alllowercase: [
    ['lower case', {}, 'abc 12!', true],
    ['mixed', {}, 'abC', false],
    ['digits only', {}, '123', true],
    ['turned', { not: true }, 'abc', false],
  ],
  containsCode: [
    ['the language', { format: 'Python' }, 'See:\n```python\nx = 1\n```', true],
    ['an alias in the text', { format: 'Python' }, '```py\nx\n```', true],
    ['an alias as format', { format: 'ts' }, '```TypeScript\nx\n```', true],
    ['C# by alias', { format: 'C#' }, '```cs\nx\n```', true],
    ['another language', { format: 'Python' }, '```rb\nx\n```', false],
    ['any of several blocks', { format: 'SQL' }, '```js\nx\n```\n```sql\ny\n```', true],
    ['no blocks', { format: 'SQL' }, 'select 1', false],
    ['no blocks, turned', { format: 'SQL', not: true }, 'select 1', true],
    ['turned', { format: 'SQL', not: true }, '```sql\nx\n```', false],
    ['backticks within a line', { format: 'SQL' }, '```sql x```', false],
    ['a block cut off', { format: 'SQL' }, '```sql\nselect', true],
    ['no format', {}, 'a', 'InvalidParameters'],
  ],
  jsonKeys: [
    ['all', { keys: ['a', 'b'], operator: 'all' }, '{"a":1,"b":{"c":2}}', true],
    ['one missing', { keys: ['a', 'c'], operator: 'all' }, '{"a":1,"b":{"c":2}}', false],
    ['any', { keys: ['a', 'z'], operator: 'any' }, 'so: {"a":1} then', true],
    ['none', { keys: ['z'], operator: 'none' }, '{"a":1}', true],
    ['none, in the second of two', { keys: ['z'], operator: 'none' }, '{"a":1} {"z":1}', false],
    ['a fenced block', { keys: ['a'], operator: 'all' }, 'Yes:\n```json\n{"a":1}\n```', true],
    [
      'a fenced block before braces',
      { keys: ['b'], operator: 'any' },
      '{"b":1}\n```\n{"a":1}\n```',
      false,
    ],
    ['code that is no JSON', { keys: ['a'], operator: 'all' }, '```js\nf()\n```\n{"a":1}', true],
    ['braces in texts', { keys: ['a'], operator: 'all' }, 'x {"a":"}{\\"","b":1} y', true],
    ['a stray brace before', { keys: ['a'], operator: 'all' }, 'set { x: {"a":1}', true],
    ['the best of several', { keys: ['a', 'b'], operator: 'all' }, '{"a":1} {"a":1,"b":2}', true],
    ['no JSON', { keys: ['a'], operator: 'none' }, 'text', false],
    ['an array', { keys: ['0'], operator: 'any' }, '[1]', false],
    ['an inherited name', { keys: ['toString'], operator: 'any' }, '{"a":1}', false],
    ['no keys', { operator: 'all' }, '{}', 'InvalidParameters'],
  ],
  notNull: [
    ['a text', {}, 'a', true],
    ['no text', {}, '', false],
    ['no text, turned', { not: true }, '', true],
  ],
};

describe.each(Object.entries(textRows))('default.%s', (id, rows) => {
  it.each(rows)('%s', async (_what, parameters, text, expected) => {
    expect(await verdictOf(`default.${id}`, parameters, answering(text))).toBe(expected);
    // The same text is judged alike on its way in.
    expect(await verdictOf(`default.${id}`, parameters, asking(text))).toBe(expected);
  });
});

describe('default.notNull', () => {
  const tool = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };

  it.each([
    ['a message that calls tools', answering(null, { tool_calls: [tool] })],
    ['a message that calls a function', answering(null, { function_call: { name: 'f' } })],
    [
      'an Anthropic message that uses a tool',
      exampleContext({
        event: 'afterRequest',
        endpoint: 'messages',
        response: { content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
      }),
    ],
    [
      'a response that calls a function',
      exampleContext({
        event: 'afterRequest',
        endpoint: 'createModelResponse',
        response: { output: [{ type: 'function_call', name: 'f' }] },
      }),
    ],
  ])('lets %s be', async (_what, context) => {
    expect(await verdictOf('default.notNull', {}, context)).toBe(true);
    expect(await verdictOf('default.notNull', { not: true }, context)).toBe(true);
  });

  it('fails null, and an empty list of tools does not help', async () => {
    expect(await verdictOf('default.notNull', {}, answering(null, { tool_calls: [] }))).toBe(false);
  });
});

describe('a text beyond 100 characters', () => {
  it('is shown by its beginning', async () => {
    const { data } = await run('default.wordCount', {}, asking('x'.repeat(101)));
    expect(data.textExcerpt).toBe(`${'x'.repeat(100)}...`);
  });
});

describe('a text of braces alone', () => {
  it('is given up in time', async () => {
    const text = '{'.repeat(1_000_000);
    const spentMs = ownTime();
    const parameters = { keys: ['a'], operator: 'any' };
    expect(await verdictOf('default.jsonKeys', parameters, answering(text))).toBe(false);
    expect(spentMs()).toBeLessThan(5_000);
  });
});

describe('default.modelWhitelist', () => {
  const asks = (model: unknown) =>
    exampleContext({ request: model === undefined ? {} : { model: model as string } });

  it.each([
    ['listed', { models: ['a', 'b'] }, 'b', true],
    ['not listed', { models: ['a'] }, 'b', false],
    ['turned', { models: ['a'], not: true }, 'a', false],
    ['a part of the name', { models: ['gpt'] }, 'gpt-4', false],
    ['no model', { models: ['a'] }, undefined, 'NothingToCheck'],
    ['a model that is no text', { models: ['a'] }, 1, 'NothingToCheck'],
    ['no list', {}, 'a', 'InvalidParameters'],
  ])('%s', async (_what, parameters, model, expected) => {
    expect(await verdictOf('default.modelWhitelist', parameters, asks(model))).toBe(expected);
    expect(await verdictOf('default.modelwhitelist', parameters, asks(model))).toBe(expected);
  });
});

describe('default.modelRules', () => {
  const rules = {
    defaults: ['cheap'],
    metadata: {
      team: { research: ['best', 'good'], all: ['*'] },
      tier: { gold: ['gold-model'], empty: [] },
    },
  };
  const asks = (model: string, metadata: Record<string, string>) =>
    exampleContext({ request: { model }, metadata });

  it.each([
    ['the defaults', { rules }, 'cheap', {}, true],
    ['beyond the defaults', { rules }, 'best', {}, false],
    ['the list of a pair', { rules }, 'good', { team: 'research' }, true],
    ['a matched pair replaces the defaults', { rules }, 'cheap', { team: 'research' }, false],
    ['lists of two pairs', { rules }, 'gold-model', { team: 'research', tier: 'gold' }, true],
    ['a star', { rules }, 'anything', { team: 'all' }, true],
    ['turned', { rules, not: true }, 'cheap', {}, false],
    ['a pair with an empty list', { rules }, 'cheap', { tier: 'empty' }, true],
    [
      'an inherited name',
      { rules: { metadata: { constructor: { x: ['m'] } } } },
      'm',
      {},
      'NothingToCheck',
    ],
    ['nothing resolved', { rules: { metadata: rules.metadata } }, 'm', {}, 'NothingToCheck'],
    ['no rules', {}, 'm', {}, 'InvalidParameters'],
    [
      'a pair without a list',
      { rules: { metadata: { a: { b: 'm' } } } },
      'm',
      {},
      'InvalidParameters',
    ],
  ] as const)('%s', async (_what, parameters, model, metadata, expected) => {
    expect(await verdictOf('default.modelRules', parameters, asks(model, metadata))).toBe(expected);
  });
});

describe('default.allowedRequestTypes', () => {
  it.each([
    ['allowed', { allowedTypes: ['chatComplete'] }, {}, true],
    ['allowed, as a text', { allowedTypes: 'embed, chatComplete' }, {}, true],
    ['not allowed', { allowedTypes: ['embed'] }, {}, false],
    ['blocked', { blockedTypes: ['chatComplete'] }, {}, false],
    ['others blocked', { blockedTypes: 'embed' }, {}, true],
    ['no lists', {}, {}, true],
    ['the metadata allows others', {}, { supported_endpoints: 'embed' }, false],
    ['the metadata blocks', {}, { blocked_endpoints: 'embed,chatComplete' }, false],
    ['metadata beside a list', { allowedTypes: ['embed'] }, { blocked_endpoints: 'embed' }, false],
    ['in both', { allowedTypes: ['embed'], blockedTypes: 'embed' }, {}, 'InvalidParameters'],
    [
      'in both, by metadata',
      {},
      { supported_endpoints: 'embed', blocked_endpoints: 'embed' },
      'InvalidParameters',
    ],
  ])('%s', async (_what, parameters, metadata, expected) => {
    const context = exampleContext({ metadata: metadata as Record<string, string> });
    expect(await verdictOf('default.allowedRequestTypes', parameters, context)).toBe(expected);
  });

  it.each([
    ['what it passes as is blocked', { blockedTypes: ['chatComplete'] }, {}, false],
    ['so by the metadata', {}, { blocked_endpoints: 'chatComplete' }, false],
    ['what passes through is blocked', { blockedTypes: ['proxy'] }, {}, false],
    ['others are blocked', { blockedTypes: ['embed'] }, {}, true],
    ['what passes through is allowed', { allowedTypes: ['proxy'] }, {}, true],
    ['what it passes as is allowed, and no proxy', { allowedTypes: ['chatComplete'] }, {}, false],
  ])('passed through: %s', async (_what, parameters, metadata, expected) => {
    const context = exampleContext({
      endpoint: 'proxy',
      passesAs: 'chatComplete',
      metadata: metadata as Record<string, string>,
    });
    expect(await verdictOf('default.allowedRequestTypes', parameters, context)).toBe(expected);
  });
});

describe('default.requiredMetadataKeys', () => {
  it.each([
    ['all', { metadataKeys: ['a', 'b'], operator: 'all' }, true],
    ['all, one missing', { metadataKeys: ['a', 'z'], operator: 'all' }, false],
    ['all is meant when nothing is said', { metadataKeys: ['a', 'z'] }, false],
    ['any', { metadataKeys: ['a', 'z'], operator: 'any' }, true],
    ['none', { metadataKeys: ['z'], operator: 'none' }, true],
    ['none, one there', { metadataKeys: ['z', 'a'], operator: 'none' }, false],
    ['an inherited name', { metadataKeys: ['toString'] }, false],
    ['no keys', {}, 'InvalidParameters'],
  ])('%s', async (_what, parameters, expected) => {
    const context = exampleContext({ metadata: { a: '1', b: '' } });
    expect(await verdictOf('default.requiredMetadataKeys', parameters, context)).toBe(expected);
  });
});

describe('default.requiredMetadataKeyPairs', () => {
  it.each([
    ['equal', { metadataPairs: { team: 'red blue', tier: 1 } }, true],
    ['one of several', { metadataPairs: { team: ['green', 'red blue'] } }, true],
    ['a part is not equal', { metadataPairs: { team: 'red' } }, false],
    ['any', { metadataPairs: { team: 'red', tier: '1' }, operator: 'any' }, true],
    ['none', { metadataPairs: { team: 'red', tier: '2' }, operator: 'none' }, true],
    ['contains', { metadataPairs: { team: ['green', 'red'] }, matchType: 'contains' }, true],
    ['contains all', { metadataPairs: { team: ['red', 'blue'] }, matchType: 'containsAll' }, true],
    ['not all', { metadataPairs: { team: ['red', 'green'] }, matchType: 'containsAll' }, false],
    ['a pattern', { metadataPairs: { team: '^red' }, matchType: 'regex' }, true],
    ['a pattern that fails', { metadataPairs: { team: '^blue' }, matchType: 'regex' }, false],
    ['a bad pattern', { metadataPairs: { team: '(' }, matchType: 'regex' }, 'InvalidPattern'],
    ['a missing key', { metadataPairs: { other: 'x' } }, false],
    ['no pairs', { metadataPairs: {} }, 'InvalidParameters'],
    ['a value that is no text', { metadataPairs: { team: {} } }, 'InvalidParameters'],
  ])('%s', async (_what, parameters, expected) => {
    const context = exampleContext({ metadata: { team: 'red blue', tier: '1' } });
    expect(await verdictOf('default.requiredMetadataKeyPairs', parameters, context)).toBe(expected);
  });
});

describe('default.requestParametersCheck', () => {
  const definition = { name: 'search', input_schema: {} };
  const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition } };
  const request: JsonObject = {
    model: 'm',
    temperature: 1,
    tools: [
      { type: 'function', function: { name: 'search' } },
      { type: 'web_search' },
      { type: 'custom', custom: { name: 'shell' } },
    ],
  };

  it.each([
    ['nothing asked', {}, []],
    ['a blocked type', { tools: { blockedTypes: ['web_search'] } }, ['type_blocked']],
    ['an allowed type', { tools: { allowedTypes: ['function', 'custom'] } }, ['type_not_allowed']],
    ['a blocked name', { tools: { blockedFunctionNames: ['search'] } }, ['name_blocked']],
    ['an allowed name', { tools: { allowedFunctionNames: ['search'] } }, ['name_not_allowed']],
    ['a blocked key', { params: { blockedKeys: ['temperature'] } }, ['key_blocked']],
    ['an allowed key', { params: { allowedKeys: ['model', 'tools'] } }, ['key_not_allowed']],
    [
      'a blocked value',
      { params: { values: { temperature: { blockedValues: [0, 1] } } } },
      ['value_blocked'],
    ],
    [
      'a value is compared strictly',
      { params: { values: { temperature: { allowedValues: ['1'] } } } },
      ['value_not_allowed'],
    ],
    ['a key that is absent', { params: { values: { seed: { allowedValues: [1] } } } }, []],
    [
      'several faults',
      { tools: { blockedTypes: ['custom'] }, params: { blockedKeys: ['model'] } },
      ['type_blocked', 'key_blocked'],
    ],
  ])('%s', async (_what, parameters, reasons) => {
    const context = exampleContext({ request });
    const { verdict, data } = await run('default.requestParametersCheck', parameters, context);
    expect((data.violations as { reason: string }[]).map(({ reason }) => reason)).toEqual(reasons);
    expect(verdict).toBe(reasons.length === 0);
  });

  it.each([
    ['functions of the older form', { functions: [{ name: 'search' }] }, 'chatComplete'],
    ['tools of Anthropic’s form', { tools: [{ name: 'search', input_schema: {} }] }, 'messages'],
    [
      'tools of a namespace',
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'search' }] }] },
      'createModelResponse',
    ],
    [
      'tools that an item of the input brings',
      { input: [{ type: 'additional_tools', tools: [{ type: 'function', name: 'search' }] }] },
      'createModelResponse',
    ],
    [
      'tools that a search for tools found',
      { input: [{ type: 'tool_search_output', tools: [{ type: 'function', name: 'search' }] }] },
      'createModelResponse',
    ],
    ...[
      ['tools that a turn adds', addition],
      [
        'tools that a compaction adds',
        { type: 'compaction', content: 's', tool_changes: [addition] },
      ],
    ].map(([what, block]): [string, JsonObject, CheckContext['endpoint']] => [
      what as string,
      { tools: [], messages: [{ role: 'system', content: [block as JsonObject] }] },
      'messages',
    ]),
  ] as [string, JsonObject, CheckContext['endpoint']][])(
    'knows %s',
    async (_what, body, endpoint) => {
      const context = exampleContext({ endpoint, request: body });
      const parameters = { tools: { blockedFunctionNames: ['search'] } };
      expect(await verdictOf('default.requestParametersCheck', parameters, context)).toBe(false);
    },
  );

  it('knows a tool of a namespace by its name there, and by its whole name', async () => {
    const tools = [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'search' }] }];
    const context = exampleContext({ endpoint: 'createModelResponse', request: { tools } });
    const judged = (lists: object) =>
      verdictOf('default.requestParametersCheck', { tools: lists }, context);
    expect(await judged({ blockedFunctionNames: ['n__search'] })).toBe(false);
    expect(await judged({ allowedFunctionNames: ['n__search', 'n'] })).toBe(true);
    expect(await judged({ allowedFunctionNames: ['search', 'n'] })).toBe(true);
    expect(await judged({ allowedFunctionNames: ['n'] })).toBe(false);
    expect(
      await judged({ blockedFunctionNames: ['search'], allowedFunctionNames: ['n__search', 'n'] }),
    ).toBe(false);
    expect(await judged({ blockedTypes: ['function'] })).toBe(false);
  });

  it('cannot decide when a list contradicts another', async () => {
    const parameters = { params: { blockedKeys: ['a'], allowedKeys: ['a'] } };
    expect(await verdictOf('default.requestParametersCheck', parameters, exampleContext())).toBe(
      'InvalidParameters',
    );
  });
});

describe('default.addPrefix', () => {
  const user = { role: 'user', content: 'hello' };
  const assistant = { role: 'assistant', content: 'hi' };
  const chat = {
    endpoint: 'chatComplete',
    request: { messages: [assistant, user, user] },
  } as const;

  it.each([
    [
      'into the first message of the role',
      { prefix: '> ' },
      chat,
      {
        messages: [assistant, { role: 'user', content: '> hello' }, user],
      },
    ],
    [
      'as a message before it',
      { prefix: 'p', addToExisting: false },
      chat,
      {
        messages: [assistant, { role: 'user', content: 'p' }, user, user],
      },
    ],
    [
      'a missing system message goes first',
      { prefix: 'p', applyToRole: 'system' },
      chat,
      {
        messages: [{ role: 'system', content: 'p' }, assistant, user, user],
      },
    ],
    [
      'another missing message goes last',
      { prefix: 'p', applyToRole: 'developer' },
      chat,
      {
        messages: [assistant, user, user, { role: 'developer', content: 'p' }],
      },
    ],
    ['nothing into a message with content', { prefix: 'p', onlyIfEmpty: true }, chat, undefined],
    [
      'into an empty message',
      { prefix: 'p', onlyIfEmpty: true },
      { endpoint: 'chatComplete', request: { messages: [{ role: 'user', content: '' }] } },
      { messages: [{ role: 'user', content: 'p' }] },
    ],
    [
      'into the first text part',
      { prefix: 'p' },
      {
        endpoint: 'chatComplete',
        request: {
          messages: [
            { role: 'user', content: [{ type: 'image_url' }, { type: 'text', text: 'a' }] },
          ],
        },
      },
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url' }, { type: 'text', text: 'pa' }] },
        ],
      },
    ],
    [
      'a text part before others',
      { prefix: 'p' },
      {
        endpoint: 'messages',
        request: { messages: [{ role: 'user', content: [{ type: 'image' }] }] },
      },
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'p' }, { type: 'image' }] }] },
    ],
    [
      'into Anthropic’s system prompt',
      { prefix: 'p', applyToRole: 'system' },
      { endpoint: 'messages', request: { system: 's', messages: [user] } },
      { system: 'ps', messages: [user] },
    ],
    [
      'as Anthropic’s system prompt',
      { prefix: 'p', applyToRole: 'system' },
      { endpoint: 'messages', request: { messages: [user] } },
      { system: 'p', messages: [user] },
    ],
    [
      'into a prompt',
      { prefix: 'p' },
      { endpoint: 'complete', request: { prompt: 'a' } },
      {
        prompt: 'pa',
      },
    ],
    [
      'into each prompt',
      { prefix: 'p' },
      { endpoint: 'complete', request: { prompt: ['a', 'b'] } },
      {
        prompt: ['pa', 'pb'],
      },
    ],
    [
      'not into tokens',
      { prefix: 'p' },
      { endpoint: 'complete', request: { prompt: [1, 2] } },
      undefined,
    ],
    [
      'into an input that is a text',
      { prefix: '> ' },
      { endpoint: 'createModelResponse', request: { input: 'hello' } },
      { input: [{ role: 'user', content: '> hello' }] },
    ],
    [
      'into the parts of an item',
      { prefix: '> ' },
      {
        endpoint: 'createModelResponse',
        request: { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
      },
      {
        input: [
          { role: 'user', content: [{ type: 'input_text', text: '> ' }, { type: 'input_image' }] },
        ],
      },
    ],
    [
      'into the instructions of a response',
      { prefix: 'p ', applyToRole: 'system' },
      { endpoint: 'createModelResponse', request: { input: 'a', instructions: 'q' } },
      { input: 'a', instructions: 'p q' },
    ],
    [
      'not into embeddings',
      { prefix: 'p' },
      { endpoint: 'embed', request: { input: 'a' } },
      undefined,
    ],
    [
      'not into a request without messages',
      { prefix: 'p' },
      { endpoint: 'chatComplete', request: {} },
      undefined,
    ],
  ] as [string, object, Partial<CheckContext>, object | undefined][])(
    '%s',
    async (_what, parameters, given, expected) => {
      const context = exampleContext(given);
      const before = structuredClone(context.request);
      const outcome = await run('default.addPrefix', parameters, context);
      expect(outcome.verdict).toBe(true);
      expect(outcome.request).toEqual(expected);
      expect(context.request).toEqual(before);
    },
  );

  it('cannot decide without a prefix', async () => {
    expect(await verdictOf('default.addPrefix', {}, exampleContext())).toBe('InvalidParameters');
  });

  it('leaves answers alone', async () => {
    const { verdict, request } = await run('default.addPrefix', { prefix: 'p' }, answering('a'));
    expect({ verdict, request }).toEqual({ verdict: true, request: undefined });
  });
});

describe('knownChecks', () => {
  it.each(['default.regexMatch', 'regexMatch', 'default.modelWhitelist', 'modelwhitelist'])(
    'has %s',
    (id) => expect(knownChecks.has(id)).toBe(true),
  );

  it.each(['default.webHook', 'default.regexmatch', 'other.regexMatch', 'constructor'])(
    'does not have %s',
    (id) => expect(knownChecks.has(id)).toBe(false),
  );
});
