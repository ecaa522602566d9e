import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunkFramesOf, eventFrame, frame } from '../../../test/aws-frames.ts';
import {
  contextFor,
  everywhere,
  fixtures,
  fixturesIn,
  insideCharacters,
  play,
  pretty,
} from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { CallContext, JsonObject } from '../../contract.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const bedrock = findProvider('bedrock')!;
const folder = join(import.meta.dirname, 'fixtures');
const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';

function contextOf(model: string, more: Partial<CallContext> = {}): CallContext {
  return contextFor(bedrock, true, { model, ...more });
}

function encode(endpoint: Endpoint, body: JsonObject, more: Partial<CallContext> = {}) {
  const context = contextOf(String(body.model), { request: body, ...more });
  return findTranslation(bedrock, endpoint, context).encode(body, context);
}

describe('requests through Converse', () => {
  const kinds = [
    ['chat', 'chatComplete'],
    ['messages', 'messages'],
  ] as const;
  for (const [kind, endpoint] of kinds)
    for (const fixture of fixturesIn(folder, kind)) {
      it(`${kind}: encodes ${fixture.name} with what was dropped`, async () => {
        const body = fixture.json();
        await expect(pretty(encode(endpoint, body))).toMatchFileSnapshot(
          fixture.golden('converse.json'),
        );
        expect(body).toEqual(fixture.json());
      });
    }

  const user = (part: object) => ({ model: claude, messages: [{ role: 'user', content: [part] }] });
  const refused: [string, JsonObject, string][] = [
    [
      'an image by http address',
      user({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }) as never,
      'body.messages[0].content[0]',
    ],
    [
      'a document by http address',
      user({ type: 'file', file: { file_url: 'http://example.com/a.pdf' } }) as never,
      'body.messages[0].content[0]',
    ],
    [
      'a file by id',
      user({ type: 'file', file: { file_id: 'file-1' } }) as never,
      'body.messages[0].content[0]',
    ],
    [
      'a type of image there is no format for',
      user({ type: 'image_url', image_url: { url: 'data:image/tiff;base64,aW1n' } }) as never,
      'body.messages[0].content[0]',
    ],
    [
      'audio for Claude',
      user({ type: 'input_audio', input_audio: { data: 'd2F2', format: 'wav' } }) as never,
      'body.messages[0].content[0]',
    ],
    ['several answers', { model: claude, messages: [], n: 2 }, 'body.n'],
  ];
  it.each(refused)('refuses %s with its path', (_, body, field) => {
    expect(() => encode('chatComplete', body)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', status: 400, field }),
    );
  });

  it('names the place of a part behind results of tools', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const content = [{ type: 'tool_result', tool_use_id: 't', content: 'x' }, image];
    const body = {
      model: 'amazon.nova-pro-v1:0',
      max_tokens: 1,
      messages: [{ role: 'user', content }],
    };
    expect(() => encode('messages', body)).toThrow(
      expect.objectContaining({ field: 'body.messages[0].content[1]' }),
    );
  });

  it('takes betas of Claude from the header, too, and none for other models', () => {
    const setting = (name: string) => (name === 'anthropic-beta' ? 'a, b' : undefined);
    const ask = (model: string) =>
      encode('chatComplete', { model, messages: [], anthropic_beta: ['b', 'c'] }, { setting });
    expect(ask(claude).body?.additionalModelRequestFields).toEqual({
      anthropic_beta: ['a', 'b', 'c'],
    });
    expect(ask('amazon.nova-pro-v1:0')).toMatchObject({ dropped: ['anthropic_beta'] });
    expect(ask('amazon.nova-pro-v1:0').body).toEqual({ messages: [] });
  });

  it('knows the effort of models it has a share or a name for, and drops others', () => {
    const ask = (model: string, reasoning_effort: string, max_tokens = 10_000) =>
      encode('chatComplete', { model, messages: [], max_tokens, reasoning_effort });
    const shares = { minimal: 1024, low: 2000, medium: 5000, high: 8000, xhigh: 8000 };
    for (const [effort, budget_tokens] of Object.entries(shares))
      expect(ask(claude, effort).body?.additionalModelRequestFields).toEqual({
        thinking: { type: 'enabled', budget_tokens },
      });
    expect(ask(claude, 'none').dropped).toEqual([]);
    expect(ask(claude, 'constructor').dropped).toEqual(['reasoning_effort']);
    expect(ask(claude, 'high', 1024).dropped).toEqual(['reasoning_effort']);
    expect(ask('openai.gpt-oss-120b-1:0', 'low').body?.additionalModelRequestFields).toEqual({
      reasoning_effort: 'low',
    });
    expect(ask('mistral.mistral-large-2407-v1:0', 'low').dropped).toEqual(['reasoning_effort']);
  });
});

describe('Claude’s own messages', () => {
  const call = findTranslation(bedrock, 'messages', contextOf(claude));

  it('moves model and stream out of the body, and version and betas in', () => {
    const body = {
      model: claude,
      stream: true,
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
      new_field: { kept: true },
      anthropic_version: '2023-06-01',
      anthropic_beta: 'advanced-tool-use-2025-11-20,files-api-2025-04-14,new-2030-01-01',
    };
    const setting = (name: string) => (name === 'anthropic-beta' ? 'from-header' : undefined);
    expect(encode('messages', body, { setting })).toEqual({
      body: {
        anthropic_version: 'bedrock-2023-05-31',
        max_tokens: 5,
        messages: [{ role: 'user', content: 'Hi' }],
        new_field: { kept: true },
        anthropic_beta: [
          'from-header',
          'tool-search-tool-2025-10-19',
          'tool-examples-2025-10-29',
          'new-2030-01-01',
        ],
      },
      dropped: [],
    });
    expect(body.model).toBe(claude);
    expect(call.mode).toBe('native');
  });

  it('leaves whole replies as they came, and reads them', () => {
    const fixture = fixtures('anthropic-messages', 'response')[0]!;
    const context = contextOf(claude);
    const reply = call.decode(fixture.bytes, context, { status: 200, headers: {} });
    expect(reply.body).toBeUndefined();
    expect(reply.facts.usage?.inputTokens).toBeGreaterThan(0);
  });

  it('tells AWS’s errors as Anthropic’s', () => {
    const { body } = call.decodeError(429, Buffer.from('{"message":"slow"}'), contextOf(claude));
    expect(JSON.parse(String(body))).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'bedrock error: slow' },
      provider: 'bedrock',
    });
  });

  const anthropic = findProvider('anthropic')!;
  const direct = findTranslation(anthropic, 'messages');
  const open = () => call.openStream(contextOf(claude), {});
  for (const fixture of fixtures('anthropic-messages', 'stream')) {
    const frames = chunkFramesOf(normal(fixture.bytes));

    it(`gives the events of ${fixture.name} as Anthropic itself would have, however cut`, () => {
      const expected = play(
        direct.openStream(contextFor(anthropic), {}),
        normal(fixture.bytes),
        [],
      );
      for (const cuts of [[], everywhere(frames), insideCharacters(frames)]) {
        const { bytes, facts, fault, phases } = play(open(), frames, cuts);
        expect(bytes.toString()).toBe(`${normal(fixture.bytes)}\n\n`);
        expect({ facts, fault, phase: phases.at(-1) }).toEqual({
          facts: expected.facts,
          fault: expected.fault,
          phase: expected.phases.at(-1),
        });
      }
    });
  }

  it('any split of the frames gives the same bytes and facts', () => {
    const streams = fixtures('anthropic-messages', 'stream').map(({ bytes }) =>
      chunkFramesOf(normal(bytes)),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.nat(), { maxLength: 40 }),
        (frames, positions) => {
          const whole = play(open(), frames, []);
          const cut = play(
            open(),
            frames,
            positions.map((position) => position % frames.length),
          );
          expect(cut.bytes.equals(whole.bytes)).toBe(true);
          expect([cut.facts, cut.fault, cut.phases.at(-1)]).toEqual([
            whole.facts,
            whole.fault,
            whole.phases.at(-1),
          ]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('keeps AWS’s metrics from the caller', () => {
    const last = '{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":9}}';
    const bytes = Buffer.from(last).toString('base64');
    const reader = open();
    const out = reader.push(eventFrame('chunk', JSON.stringify({ bytes })));
    expect(out.toString()).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n');
    expect(reader.phase).toBe('complete');
  });

  it.each([
    ['throttlingException', 'rate_limit_error', 429],
    ['validationException', 'invalid_request_error', 400],
    ['serviceUnavailableException', 'overloaded_error', 503],
    ['modelStreamErrorException', 'api_error', 502],
    ['modelTimeoutException', 'timeout_error', 504],
    ['internalServerException', 'api_error', 500],
  ])('tells %s as %s, of status %i', (name, type, status) => {
    const reader = open();
    const headers = { ':message-type': 'exception', ':exception-type': name };
    const out = reader.push(frame(headers, '{"message":"no"}'));
    const error = JSON.stringify({ type: 'error', error: { type, message: 'no' } });
    expect(out.toString()).toBe(`event: error\ndata: ${error}\n\n`);
    expect(reader.fault).toEqual({ type: name, message: 'no', status });
    expect([reader.phase, reader.faultForwarded]).toEqual(['failed', true]);
  });

  it.each(['{}', '{"bytes":"bm8="}', '[', '{"bytes":"e30="}'])(
    'fails on a chunk of %j',
    (payload) => {
      const reader = open();
      expect(reader.push(eventFrame('chunk', payload)).length).toBe(0);
      expect(reader.fault).toMatchObject({ type: 'invalid_stream' });
      expect([reader.phase, reader.faultForwarded]).toEqual(['failed', false]);
    },
  );
});

/** The fixture with one way of ending lines, as Bedrock's chunks have no lines at all. */
function normal(fixture: Buffer): Buffer {
  const events = fixture
    .toString()
    .replace(/\r\n?/g, '\n')
    .split('\n\n')
    .filter((event) => /^event: .*\ndata: \{/.test(event));
  return Buffer.from(events.map(plainEvent).join('\n\n'));
}

/** One line of data, named as its type is. */
function plainEvent(event: string): string {
  const data = event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.replace(/^data: ?/, ''))
    .join('\n');
  return `event: ${JSON.parse(data).type}\ndata: ${data}`;
}

describe('counting tokens', () => {
  it('hands Claude its own body, with a limit that the count does not depend on', () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const { body } = encode('messagesCountTokens', { model: claude, messages });
    const inner = (body as { input: { invokeModel: { body: string } } }).input.invokeModel.body;
    expect(JSON.parse(Buffer.from(inner, 'base64').toString())).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      messages,
      max_tokens: 1,
    });
  });

  it('hands others their conversation alone', () => {
    const body = {
      model: 'amazon.nova-pro-v1:0',
      system: 'S',
      messages: [{ role: 'user', content: 'Hi' }],
    };
    expect(encode('messagesCountTokens', body).body).toEqual({
      input: {
        converse: {
          messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
          system: [{ text: 'S' }],
        },
      },
    });
  });

  it('answers in Anthropic’s words, errors too', () => {
    const context = contextOf(claude);
    const call = findTranslation(bedrock, 'messagesCountTokens', context);
    const head = { status: 200, headers: {} };
    const reply = call.decode(Buffer.from('{"inputTokens":12}'), context, head);
    expect(JSON.parse(String(reply.body))).toEqual({ input_tokens: 12 });
    expect(() => call.decode(Buffer.from('{}'), context, head)).toThrow(
      expect.objectContaining({ code: 'upstream.invalid_response' }),
    );
    const error = call.decodeError(400, Buffer.from('{"message":"no"}'), context);
    expect(JSON.parse(String(error.body))).toMatchObject({ type: 'error' });
  });
});
