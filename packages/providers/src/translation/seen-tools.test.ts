import type { Endpoint, JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { findProvider } from '../catalog.ts';
import type { ReplyFacts } from '../contract.ts';
import { translationVia } from './find-translation.ts';

const said = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item });
const search = (type: string) => ({
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: { type },
});
const response = { id: 'resp_1', model: 'gpt-5' };
const responseEvents = [
  { type: 'response.created', response: { ...response, tools: [{ type: 'web_search' }] } },
  { type: 'response.output_item.added', output_index: 0, item: search('search') },
  said(search('search')),
  said(search('open_page')),
  said(search('search')),
  said({ type: 'file_search_call', id: 'fs_1', queries: ['a'], results: [{ text: 'b' }] }),
  { type: 'response.output_item.added', output_index: 3, item: { type: 'image_generation_call' } },
  said({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'QUJD' }),
  said({ type: 'image_generation_call', id: 'ig_2', status: 'completed', result: 'QUJD' }),
  said({ type: 'function_call', call_id: 'c', name: 'web_search_call', arguments: '{}' }),
  { type: 'response.output_text.delta', output_index: 4, content_index: 0, delta: 'It is.' },
];

const block = (content_block: object) => ({ type: 'content_block_start', index: 1, content_block });
const found = { type: 'web_search_result', url: 'https://example.com', title: 'A' };
const messageEvents = [
  { type: 'message_start', message: { id: 'msg_1', model: 'claude-sonnet-4-5', content: [] } },
  block({ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
  block({ type: 'web_search_tool_result', tool_use_id: 's1', content: [found] }),
  block({
    type: 'web_search_tool_result',
    tool_use_id: 's2',
    content: { type: 'web_search_tool_result_error', error_code: 'unavailable' },
  }),
  block({ type: 'web_search_tool_result', tool_use_id: 's3', content: [found] }),
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  {
    type: 'content_block_delta',
    index: 2,
    delta: { type: 'text_delta', text: 'It is "type":"web_search_tool_result".' },
  },
];

const upstreams = {
  response: ['openai', 'createModelResponse'],
  message: ['anthropic', 'messages'],
} as const;

/** @param asked in whose words the caller asks; absent = in the upstream's */
function factsOf(
  upstream: keyof typeof upstreams,
  events: readonly object[],
  asked?: Endpoint,
): ReplyFacts {
  const [provider, offered] = upstreams[upstream];
  const entry = findProvider(provider)!;
  const setting = () => undefined;
  const model = upstream === 'message' ? 'claude-sonnet-4-5' : 'gpt-5';
  const facts = { model, stream: true, setting };
  const translation = translationVia(entry, offered, asked ?? offered, facts);
  const request: JsonObject = { model, stream: true, messages: [] };
  const context = {
    provider: entry,
    model,
    stream: true,
    setting,
    request,
    strictOpenAiCompliance: false,
    nowMs: 0,
  };
  const reader = translation.openStream(context, request);
  for (const event of events) {
    const { type } = event as { type: string };
    reader.push(Buffer.from(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`));
  }
  reader.end();
  return reader.facts;
}

const usage = { input_tokens: 9, output_tokens: 3 };

describe('tools that a stream shows to be used', () => {
  it.each([undefined, 'chatComplete', 'messages'] as const)(
    'count where a response is cut, told as %s',
    (asked) => {
      expect(factsOf('response', responseEvents, asked).units).toEqual({
        webSearches: 2,
        fileSearches: 1,
        imageGenerations: 2,
      });
    },
  );

  it.each([undefined, 'chatComplete'] as const)(
    'count where a message is cut, told as %s',
    (asked) => {
      expect(factsOf('message', messageEvents, asked).units).toEqual({ webSearches: 2 });
    },
  );

  it('count where it ends without counts, by all of its answer', () => {
    const output = [search('search'), search('search'), search('search')];
    const end = { type: 'response.completed', response: { ...response, output } };
    const facts = factsOf('response', [...responseEvents, end]);
    expect(facts.usage).toBeUndefined();
    expect(facts.units).toEqual({ webSearches: 3, fileSearches: 1, imageGenerations: 2 });
    const stopped = [...messageEvents, { type: 'message_stop' }];
    expect(factsOf('message', stopped).units).toEqual({ webSearches: 2 });
  });

  it('count nothing beside what the provider counts', () => {
    const tool_usage = { web_search: { num_requests: 1 } };
    const ended = {
      type: 'response.completed',
      response: { ...response, output: [], usage, tool_usage },
    };
    for (const asked of [undefined, 'chatComplete'] as const)
      expect(factsOf('response', [...responseEvents, ended], asked).units).toEqual({
        webSearches: 1,
      });
    const counted = [
      ...messageEvents,
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { ...usage, server_tool_use: { web_search_requests: 1 } },
      },
      { type: 'message_stop' },
    ];
    for (const asked of [undefined, 'chatComplete'] as const)
      expect(factsOf('message', counted, asked).units).toEqual({ webSearches: 1 });
  });
});
