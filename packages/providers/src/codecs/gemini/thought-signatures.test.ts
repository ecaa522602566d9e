import type { JsonObject, StreamableFormat } from '@sluice/contracts';
import { refuseGemini } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor, okHead, play } from '../../../test/fixtures.ts';
import { assembleStream } from '../../assemble/assemble-stream.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const google = findProvider('google')!;
const model = 'gemini-3-pro-preview';
const signature = 'c2lnLW9uZQ==';
const user = { role: 'user', content: 'Weather?' };

/** A turn of the model: a thought, two calls of which the first is signed. */
const parts: JsonObject[] = [
  { text: 'Two cities.', thought: true },
  { functionCall: { name: 'f', args: { city: 'Paris' } }, thoughtSignature: signature },
  { functionCall: { name: 'f', args: { city: 'Köln' } } },
];
const replyOf = (content: JsonObject[]) => ({
  candidates: [{ content: { role: 'model', parts: content }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  responseId: 'rsp',
});

interface Caller {
  name: string;
  endpoint: 'chatComplete' | 'messages' | 'createModelResponse';
  format: StreamableFormat;
  /** The request that goes on where an answer ended. */
  next(answer: JsonObject): JsonObject;
}

const callers: readonly Caller[] = [
  {
    name: 'chat completions',
    endpoint: 'chatComplete',
    format: 'openai-chat',
    next: (answer) => {
      const { message } = (answer.choices as JsonObject[])[0] as { message: JsonObject };
      const results = ((message.tool_calls ?? []) as JsonObject[]).map(({ id }) => ({
        role: 'tool',
        tool_call_id: id as string,
        content: 'rain',
      }));
      return { messages: [user, message, ...(results.length === 0 ? [user] : results)] };
    },
  },
  {
    name: 'messages',
    endpoint: 'messages',
    format: 'anthropic-messages',
    next: ({ content }) => {
      const results = (content as JsonObject[])
        .filter(({ type }) => type === 'tool_use')
        .map(({ id }) => ({ type: 'tool_result', tool_use_id: id as string, content: 'rain' }));
      const last = results.length === 0 ? user : { role: 'user', content: results };
      return { max_tokens: 9, messages: [user, { role: 'assistant', content: content! }, last] };
    },
  },
  {
    name: 'responses',
    endpoint: 'createModelResponse',
    format: 'openai-responses',
    next: ({ output }) => {
      const results = (output as JsonObject[])
        .filter(({ type }) => type === 'function_call')
        .map(({ call_id }) => ({
          type: 'function_call_output',
          call_id: call_id as string,
          output: 'rain',
        }));
      const last = results.length === 0 ? [user] : results;
      return { input: [user, ...(output as JsonObject[]), ...last] };
    },
  },
];

describe.each(callers)('a turn of Gemini’s, told to callers of $name by default', (caller) => {
  const call = findTranslation(google, caller.endpoint, {
    model,
    stream: false,
    setting: () => undefined,
  });
  const context = contextFor(google, true, { model, request: { model } });

  const whole = (content: JsonObject[]): JsonObject => {
    const bytes = Buffer.from(JSON.stringify(replyOf(content)));
    return JSON.parse(String(call.decode(bytes, context, okHead).body));
  };
  const streamed = (content: JsonObject[]): JsonObject => {
    const events = content.map((part, index) => {
      const { candidates, ...rest } = replyOf([part]);
      const isLast = index === content.length - 1;
      const { finishReason, ...candidate } = candidates[0]!;
      return { candidates: [isLast ? { ...candidate, finishReason } : candidate], ...rest };
    });
    const bytes = Buffer.from(events.map((e) => `data: ${JSON.stringify(e)}\n\n`).join(''));
    const told = play(call.openStream(context, { model }), bytes, []).bytes;
    return assembleStream(caller.format, told) as JsonObject;
  };
  const back = (answer: JsonObject) => {
    const body = { model, ...caller.next(answer) };
    const encoded = call.encode(body, contextFor(google, true, { model, request: body }));
    return { ...encoded, contents: encoded.body?.contents as { parts: JsonObject[] }[] };
  };

  it.each([
    ['whole', whole],
    ['as a stream', streamed],
  ])('comes back with the signature of its call, told %s', (_how, tell) => {
    const { body, contents, dropped } = back(tell(parts));
    const calls = contents[1]!.parts.filter(({ functionCall }) => functionCall !== undefined);
    expect(calls.map(({ thoughtSignature }) => thoughtSignature)).toEqual([signature, undefined]);
    expect(refuseGemini(model, body)).toBeUndefined();
    expect(dropped).toEqual([]);
  });

  it('comes back with a stand-in where the caller kept no signature, and is accepted', () => {
    const { body, contents } = back(whole(parts.map(({ thoughtSignature: _, ...part }) => part)));
    expect(contents[1]!.parts.map(({ thoughtSignature }) => thoughtSignature)).toContain(
      'skip_thought_signature_validator',
    );
    expect(refuseGemini(model, body)).toBeUndefined();
  });

  it('comes back with the signature of its text', () => {
    const signed = [{ text: 'Rain.', thoughtSignature: signature }];
    const { contents } = back(whole(signed));
    expect(contents[1]!.parts).toContainEqual(signed[0]);
  });

  it('comes back with the signature of its text, told as a stream', () => {
    const pieces: JsonObject[] = [
      { text: 'Ra' },
      { text: 'in.' },
      { text: '', thoughtSignature: signature },
    ];
    const { contents } = back(streamed(pieces));
    expect(contents[1]!.parts).toEqual([{ text: 'Rain.', thoughtSignature: signature }]);
  });

  it('comes back with the signatures of a text and of the call behind it', () => {
    const both: JsonObject[] = [
      { text: 'Let me see.', thoughtSignature: 'dGV4dA==' },
      { functionCall: { name: 'f', args: {} }, thoughtSignature: signature },
    ];
    const { contents } = back(whole(both));
    expect(contents[1]!.parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual([
      'dGV4dA==',
      signature,
    ]);
  });

  it('is not signed to any other provider', () => {
    const next = { model: 'm', ...caller.next(whole(parts)) };
    for (const id of ['anthropic', 'openai', 'cohere', 'bedrock']) {
      const provider = findProvider(id)!;
      const other = findTranslation(provider, caller.endpoint, {
        model: 'm',
        stream: false,
        setting: () => undefined,
      });
      const { body } = other.encode(
        next,
        contextFor(provider, true, { model: 'm', request: next }),
      );
      expect(JSON.stringify(body)).not.toContain(signature);
    }
  });
});

it('tells callers of messages the signature of a text in no field that their clients do not know', () => {
  const call = findTranslation(google, 'messages');
  const context = contextFor(google, true, { model });
  const bytes = Buffer.from(
    JSON.stringify(replyOf([{ text: 'Rain.', thoughtSignature: signature }])),
  );
  expect(JSON.parse(String(call.decode(bytes, context, okHead).body)).content).toEqual([
    { type: 'text', text: 'Rain.' },
    { type: 'thinking', thinking: '', signature: `google:told:${signature}` },
  ]);
});

it('reads the signature that a caller got from Google itself, in either spelling', () => {
  const chat = findTranslation(google, 'chatComplete');
  const fn = { name: 'f', arguments: '{}' };
  const spellings: JsonObject[] = [
    {
      id: 'c',
      type: 'function',
      function: fn,
      extra_content: { google: { thought_signature: 's' } },
    },
    { id: 'c', type: 'function', function: { ...fn, thought_signature: 's' } },
  ];
  for (const called of spellings) {
    const messages = [user, { role: 'assistant', content: null, tool_calls: [called] }];
    const { body } = chat.encode({ model, messages }, contextFor(google, true, { model }));
    expect(JSON.stringify(body)).toContain('"thoughtSignature":"s"');
  }
});

describe('a turn of Gemini’s as OpenAI’s Agents send it back by chat completions', () => {
  const call = findTranslation(google, 'chatComplete', {
    model,
    stream: false,
    setting: () => undefined,
  });
  const proof = { extra_content: { google: { thought_signature: signature } } };
  const look = {
    id: 'c1',
    type: 'function',
    function: { name: 'f', arguments: '{"city":"Paris"}' },
    ...proof,
  };
  const partsOf = (message: JsonObject): JsonObject[] => {
    const rest =
      message.tool_calls === undefined
        ? [user]
        : [{ role: 'tool', tool_call_id: 'c1', content: 'rain' }];
    const body = { model, messages: [user, message, ...rest] };
    const encoded = call.encode(body, contextFor(google, true, { model, request: body }));
    return (encoded.body as { contents: { parts: JsonObject[] }[] }).contents[1]!.parts;
  };

  it.each([
    ['I look.', [{ text: 'I look.' }]],
    [null, []],
  ])('signs the call alone, whose words stand on its message as well: %j', (text, before) => {
    const content = text === null ? null : [{ type: 'text', text, tool_calls: [look] }];
    const parts = partsOf({ role: 'assistant', content, tool_calls: [look], ...proof });
    expect(parts).toMatchObject([
      ...before,
      { functionCall: { args: { city: 'Paris' } }, thoughtSignature: signature },
    ]);
    expect(parts.filter(({ thoughtSignature }) => thoughtSignature !== undefined)).toHaveLength(1);
  });

  it('signs the text whose part has the words of its message', () => {
    const content = [{ type: 'text', text: 'Rain.', role: 'assistant', ...proof }];
    expect(partsOf({ role: 'assistant', content })).toEqual([
      { text: 'Rain.', thoughtSignature: signature },
    ]);
  });
});
