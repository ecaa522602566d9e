import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { type TextSource, textsOf } from './texts-of.ts';

function exampleContext(given: Partial<TextSource> = {}): TextSource {
  return {
    event: 'beforeRequest',
    endpoint: 'chatComplete',
    request: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
    response: undefined,
    ...given,
  };
}

/** A chat whose last message says this. */
function asking(content: JsonObject[string]): TextSource {
  const messages = [
    { role: 'system', content: 'Not looked at.' },
    { role: 'user', content },
  ];
  return exampleContext({ request: { model: 'm', messages } });
}

/** A chat that was answered so. */
function answering(content: JsonObject[string]): TextSource {
  return exampleContext({
    event: 'afterRequest',
    response: { choices: [{ index: 0, message: { role: 'assistant', content } }] },
  });
}

const image = { type: 'image_url', image_url: { url: 'data:' } };

describe('textsOf', () => {
  it.each([
    ['the last message', asking('hello'), 'hello'],
    [
      'its text parts, by lines',
      asking([{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }]),
      'a\nb',
    ],
    ['a message without content', asking(null), ''],
    ['no messages', exampleContext({ request: {} }), ''],
    ['messages of another shape', exampleContext({ request: { messages: 'x' } }), ''],
    [
      'an Anthropic message',
      exampleContext({
        endpoint: 'messages',
        request: {
          system: 's',
          messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }],
        },
      }),
      'a',
    ],
    ['a prompt', exampleContext({ endpoint: 'complete', request: { prompt: 'p' } }), 'p'],
    ['prompts', exampleContext({ endpoint: 'complete', request: { prompt: ['p', 'q'] } }), 'p\nq'],
    ['tokens', exampleContext({ endpoint: 'complete', request: { prompt: [1, 2] } }), ''],
    [
      'the input of a response',
      exampleContext({ endpoint: 'createModelResponse', request: { input: 'i' } }),
      'i',
    ],
    [
      'the last item of an input',
      exampleContext({
        endpoint: 'createModelResponse',
        request: {
          instructions: 's',
          input: [
            { role: 'user', content: 'a' },
            { role: 'user', content: [{ type: 'input_text', text: 'b' }, { type: 'input_image' }] },
          ],
        },
      }),
      'b',
    ],
    [
      'what a tool returned last',
      exampleContext({
        endpoint: 'createModelResponse',
        request: { input: [{ type: 'function_call_output', call_id: 'c', output: 'sunny' }] },
      }),
      'sunny',
    ],
    [
      'what a tool without a schema returned last',
      exampleContext({
        endpoint: 'createModelResponse',
        request: { input: [{ type: 'custom_tool_call_output', call_id: 'c', output: 'sunny' }] },
      }),
      'sunny',
    ],
    [
      'what a program returned last',
      exampleContext({
        endpoint: 'createModelResponse',
        request: { input: [{ type: 'program_output', call_id: 'c', result: 'sunny' }] },
      }),
      'sunny',
    ],
    [
      'the messages of an output, as one',
      exampleContext({
        event: 'afterRequest',
        endpoint: 'createModelResponse',
        response: {
          output: [
            { type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }] },
            { type: 'message', content: [{ type: 'output_text', text: 'It is ' }] },
            { type: 'function_call', name: 'f' },
            { type: 'message', content: [{ type: 'output_text', text: 'so.' }] },
          ],
        },
      }),
      'It is so.',
    ],
    ['an input', exampleContext({ endpoint: 'embed', request: { input: ['a', 'b'] } }), 'a\nb'],
    ['an answer', answering('yes'), 'yes'],
    ['an answer without content', answering(null), ''],
    ['an answer without choices', exampleContext({ event: 'afterRequest', response: {} }), ''],
    [
      'a completion',
      exampleContext({
        event: 'afterRequest',
        endpoint: 'complete',
        response: { choices: [{ text: 'first' }, { text: 'second' }] },
      }),
      'first',
    ],
    [
      'the text of Anthropic’s blocks, as one',
      exampleContext({
        event: 'afterRequest',
        endpoint: 'messages',
        response: {
          content: [
            { type: 'thinking', thinking: 'x' },
            { type: 'text', text: 'It is ' },
            { type: 'tool_use', id: 'c', name: 'f', input: {} },
            { type: 'text', text: 'cited.' },
          ],
        },
      }),
      'It is cited.',
    ],
    ['a passed-through body', exampleContext({ endpoint: 'proxy', request: { prompt: 'p' } }), 'p'],
  ] as [string, TextSource, string][])('reads %s', (_what, context, text) => {
    expect(textsOf(context).joined).toBe(text);
  });

  it('puts texts in place, keeps what is null, and leaves the rest and the original alone', () => {
    const parts: JsonObject[] = [
      { type: 'text', text: 'a' },
      image,
      { type: 'text', text: 'b', cache: true },
    ];
    const context = asking(parts);
    const before = structuredClone(context.request);
    const changed = textsOf(context).replace([null, 'B']);
    expect(changed).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Not looked at.' },
        {
          role: 'user',
          content: [{ type: 'text', text: 'a' }, image, { type: 'text', text: 'B', cache: true }],
        },
      ],
    });
    expect(context.request).toEqual(before);
  });

  it('replaces in the messages of an output, and in the last item of an input', () => {
    const message = (...texts: string[]): JsonObject => ({
      type: 'message',
      content: texts.map((text) => ({ type: 'output_text', text, annotations: [] })),
    });
    const call = { type: 'function_call', name: 'f' };
    const endpoint = 'createModelResponse';
    const response: JsonObject = { id: 'x', output: [message('a', 'b'), call, message('c')] };
    const context = exampleContext({ event: 'afterRequest', endpoint, response });
    expect(textsOf(context).replace(['A', null, 'C'])).toEqual({
      id: 'x',
      output: [message('A', 'b'), call, message('C')],
    });
    const input = [call, { role: 'user', content: 'a' }];
    expect(textsOf(exampleContext({ endpoint, request: { input } })).replace(['A'])).toEqual({
      input: [call, { role: 'user', content: 'A' }],
    });
    expect(textsOf(exampleContext({ endpoint, request: { input: 'a' } })).replace(['A'])).toEqual({
      input: 'A',
    });
  });

  it('replaces in the first choice only', () => {
    const response: JsonObject = {
      id: 'x',
      choices: [{ message: { role: 'assistant', content: 'a' } }, { message: { content: 'b' } }],
    };
    const context = exampleContext({ event: 'afterRequest', response });
    expect(textsOf(context).replace(['z'])).toEqual({
      id: 'x',
      choices: [{ message: { role: 'assistant', content: 'z' } }, { message: { content: 'b' } }],
    });
  });
});

describe('what takes the place of an answer’s text', () => {
  const said = (content: string | null, ...texts: string[]): JsonObject => ({
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content,
          content_blocks: [
            { type: 'thinking', thinking: 'hm' },
            ...texts.map((text) => ({ type: 'text', text })),
          ],
        },
      },
    ],
  });
  const source = exampleContext({
    event: 'afterRequest',
    response: said('I am Ada.', 'I am ', 'Ada.'),
  });

  it.each([undefined, ['conversation'] as const, ['last_message', 'tool_calls'] as const])(
    'stands in its blocks as well, by the subjects %j',
    (subjects) => {
      const texts = subjects === undefined ? textsOf(source) : textsOf(source, [...subjects]);
      expect(texts.parts).toEqual(['I am Ada.']);
      expect(texts.replace(['I am {{1}}.'])).toEqual(said('I am {{1}}.', 'I am {{1}}.'));
      expect(texts.replace([null])).toEqual(source.response);
    },
  );

  it('stands where each block is, where all texts are looked at', () => {
    const texts = textsOf(source, ['all']);
    const replaced = texts.replace(texts.parts.map((part) => part.replace('Ada', '{{1}}')));
    expect(JSON.stringify(replaced)).not.toContain('Ada');
  });
});

describe('answers that were changed', () => {
  const tokens = ['I am ', 'Ada'].map((token) => ({ token, logprob: -1, top_logprobs: [] }));
  it.each<[TextSource['endpoint'], JsonObject]>([
    [
      'chatComplete',
      {
        choices: [
          { message: { role: 'assistant', content: 'I am Ada' }, logprobs: { content: tokens } },
          { message: { role: 'assistant', content: 'Hi' }, logprobs: { content: [] } },
        ],
      },
    ],
    ['complete', { choices: [{ text: 'I am Ada', logprobs: { tokens: ['I am ', 'Ada'] } }] }],
    [
      'createModelResponse',
      {
        output: [
          {
            type: 'message',
            content: [{ type: 'output_text', text: 'I am Ada', logprobs: tokens }],
          },
        ],
      },
    ],
    [
      'proxy',
      {
        candidates: [
          {
            content: { parts: [{ text: 'I am Ada' }] },
            logprobsResult: { chosenCandidates: tokens },
          },
        ],
      },
    ],
  ])('do not tell by the probabilities of tokens what stood there: %s', (endpoint, response) => {
    for (const subjects of [undefined, ['all' as const]]) {
      const source = exampleContext({ event: 'afterRequest', endpoint, response });
      const texts = textsOf(source, subjects);
      const changed = texts.parts.map((part) => (part === 'I am Ada' ? 'I am {{1}}' : null));
      const said = JSON.stringify(texts.replace(changed));
      expect(said).toContain('I am {{1}}');
      expect(said).not.toContain('Ada');
      expect(texts.replace(texts.parts.map(() => null))).toEqual(response);
      if (endpoint === 'chatComplete') expect(said).toContain('"logprobs":{"content":[]}');
    }
  });
});
