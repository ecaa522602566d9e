import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import {
  contextFor,
  everywhere,
  fixtures,
  insideCharacters,
  okHead,
  play,
  pretty,
} from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { openAiChat } from './index.ts';

const openai = findProvider('openai')!;
const anthropic = findProvider('anthropic')!;
/** Answers in this format, asked in Anthropic's. */
const messages = findTranslation(openai, 'messages');
/** Asked in this format, answered in Anthropic's. */
const chat = findTranslation(anthropic, 'chatComplete');
const native = findTranslation(openai, 'chatComplete');

describe('requests', () => {
  for (const fixture of fixtures('openai-chat', 'request')) {
    it(`decodes ${fixture.name}, and encodes it for Anthropic with what was dropped`, async () => {
      const decoded = openAiChat.decodeRequest(fixture.json());
      await expect(pretty(decoded)).toMatchFileSnapshot(fixture.golden('model.json'));
      const encoded = chat.encode(fixture.json(), contextFor(anthropic));
      await expect(pretty(encoded)).toMatchFileSnapshot(fixture.golden('anthropic.json'));
    });

    // What other providers wrote is taken out: see own-words.test.ts.
    if (fixture.name !== 'thinking')
      it(`leaves ${fixture.name} alone where the provider speaks the format`, () => {
        expect(native.encode(fixture.json(), contextFor(openai)).body).toBeUndefined();
      });
  }

  it.each([
    [{ messages: [] }, 'body.model'],
    [{ model: 'm' }, 'body.messages'],
    [{ model: 'm', messages: [{ role: 'bot', content: '' }] }, 'body.messages[0].role'],
    [{ model: 'm', messages: [{ role: 'user', content: 7 }] }, 'body.messages[0].content'],
    [{ model: 'm', messages: [], n: 2 }, 'body.n'],
    [
      {
        model: 'm',
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'ftp://x' } }] },
        ],
      },
      'body.messages[0].content[0].image_url.url',
    ],
    [
      {
        model: 'm',
        messages: [
          {
            role: 'user',
            content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }],
          },
        ],
      },
      'body.messages[0]',
    ],
  ])('refuses %j with the path of the fault', (body, field) => {
    expect(() => chat.encode(body as never, contextFor(anthropic))).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });
});

describe('an answer in JSON', () => {
  it('has the schema that stands beside it, as hosts of open models take it', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const asked = (response_format: JsonObject) =>
      openAiChat.decodeRequest({ model: 'm', messages: [], response_format }).request
        .responseFormat;
    expect(asked({ type: 'json_object', schema })).toEqual({ type: 'json-schema', schema });
    expect(asked({ type: 'json_object' })).toEqual({ type: 'json' });
  });
});

describe('replies', () => {
  for (const fixture of fixtures('openai-chat', 'response')) {
    it(`decodes ${fixture.name}, and encodes it for a caller of messages`, async () => {
      await expect(pretty(openAiChat.decodeReply(fixture.json()))).toMatchFileSnapshot(
        fixture.golden('model.json'),
      );
      const { body, facts } = messages.decode(fixture.bytes, contextFor(openai), okHead);
      await expect(pretty({ body: JSON.parse(String(body)), facts })).toMatchFileSnapshot(
        fixture.golden('anthropic.json'),
      );
    });

    it(`reads the facts of ${fixture.name} without changing a byte`, () => {
      const read = native.decode(fixture.bytes, contextFor(openai), okHead);
      expect(read.body).toBeUndefined();
      expect(read.facts).toEqual(messages.decode(fixture.bytes, contextFor(openai), okHead).facts);
    });

    it(`gives ${fixture.name} back as it came, apart from the provider's name and our usage`, () => {
      const original = fixture.json();
      const again = openAiChat.encodeReply(openAiChat.decodeReply(original as never)!, {
        provider: 'p',
        strict: true,
        nowMs: 0,
        requestedModel: undefined,
        request: {},
      });
      expect(again).toMatchObject({
        id: original.id,
        model: original.model,
        created: original.created,
      });
    });
  }

  it.each(['', 'not json', '[]', '{}', '{"choices":1}'])('refuses %j as not the format', (text) => {
    expect(() => messages.decode(Buffer.from(text), contextFor(openai), okHead)).toThrow(
      expect.objectContaining({ code: 'upstream.invalid_response' }),
    );
  });
});

describe('errors', () => {
  for (const fixture of fixtures('openai-chat', 'error')) {
    it(`tells a caller of messages of ${fixture.name}`, async () => {
      const status = Number(fixture.name.split('.').at(-1));
      const { body } = messages.decodeError(status, fixture.bytes, contextFor(openai));
      await expect(pretty(JSON.parse(String(body)))).toMatchFileSnapshot(
        fixture.golden('anthropic.json'),
      );
      expect(native.decodeError(status, fixture.bytes, contextFor(openai)).body).toBeUndefined();
    });
  }
});

describe('streams', () => {
  for (const fixture of fixtures('openai-chat', 'stream')) {
    for (const call of [native, messages]) {
      const open = () => call.openStream(contextFor(openai), { model: 'gpt-4.1' });

      it(`${call.mode}: reads ${fixture.name} the same however it is cut`, async () => {
        const whole = play(open(), fixture.bytes, []);
        const { phases, facts, fault } = play(open(), fixture.bytes, everywhere(fixture.bytes));
        if (call.mode === 'translated')
          await expect(whole.bytes.toString()).toMatchFileSnapshot(fixture.golden('anthropic.txt'));
        else expect(whole.bytes.equals(fixture.bytes)).toBe(true);
        await expect(pretty({ phases, facts, fault })).toMatchFileSnapshot(
          fixture.golden(`${call.mode}.facts.json`),
        );
        for (const cuts of [everywhere(fixture.bytes), insideCharacters(fixture.bytes)]) {
          const again = play(open(), fixture.bytes, cuts);
          expect(again.bytes.equals(whole.bytes)).toBe(true);
          expect(again.facts).toEqual(whole.facts);
          expect(again.fault).toEqual(whole.fault);
          expect(again.phases.at(-1)).toBe(whole.phases.at(-1));
        }
      });
    }
  }

  it('returns the very buffer it was given where the format is shared', () => {
    const reader = native.openStream(contextFor(openai), {});
    const chunk = Buffer.from('data: {"choices":[{"delta":{"content":"x"}}]}\n\n');
    expect(reader.push(chunk)).toBe(chunk);
  });

  it('waits for every choice asked for before it takes a missing [DONE] for an end', () => {
    const stream = Buffer.from(
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    );
    const one = play(native.openStream(contextFor(openai), {}), stream, []);
    const two = play(native.openStream(contextFor(openai), { n: 2 }), stream, []);
    expect([one.phases.at(-1), two.phases.at(-1)]).toEqual(['complete', 'content']);
  });

  it('does not call an unfinished HTML page or a JSON body a stream', () => {
    for (const text of ['<html>\n\n</html>', '{"error":{"message":"no"}}', 'data: <oops>\n\n'])
      for (const call of [native, messages]) {
        const played = play(call.openStream(contextFor(openai), {}), Buffer.from(text), []);
        expect(played.phases.at(-1)).toBe('failed');
        expect(played.fault?.status).toBe(502);
      }
  });

  it('ends with an error the OpenAI clients raise, and without [DONE]', () => {
    const reader = native.openStream(contextFor(openai), {});
    const event = reader.errorEvent({
      type: 'upstream_error',
      message: 'cut',
      status: 502,
      code: 'upstream.stream_cut',
    });
    expect(event.toString()).toBe(
      'data: {"error":{"message":"cut","type":"upstream_error","param":null,"code":"upstream.stream_cut"}}\n\n',
    );
  });
});
