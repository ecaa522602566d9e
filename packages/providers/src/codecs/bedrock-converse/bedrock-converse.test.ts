import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { framesOf } from '../../../test/aws-frames.ts';
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
import { compact } from '../../json/json-access.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { TranslatedStreamReader } from '../../translation/translated-stream.ts';
import { anthropicMessages } from '../anthropic-messages/index.ts';
import { openAiChat } from '../openai-chat/index.ts';
import { bedrockConverse } from './index.ts';

const bedrock = findProvider('bedrock')!;
const model = 'amazon.nova-pro-v1:0';
const context = (strict = true) => contextFor(bedrock, strict, { model });
const chat = findTranslation(bedrock, 'chatComplete', context());
const messages = findTranslation(bedrock, 'messages', context());

describe('requests', () => {
  for (const fixture of fixtures('bedrock-converse', 'request')) {
    it(`decodes ${fixture.name}, and encodes it for the other formats`, async () => {
      const { request, dropped } = bedrockConverse.decodeRequest(fixture.json());
      expect(dropped).toEqual([]);
      await expect(pretty(request)).toMatchFileSnapshot(fixture.golden('model.json'));
      const others = [openAiChat, anthropicMessages].map((codec) => [
        codec.format,
        // Media that the other format does not take at all are told by their place.
        attempt(() => codec.encodeRequest({ ...request, model: 'm' }, context())),
      ]);
      await expect(pretty(Object.fromEntries(others))).toMatchFileSnapshot(
        fixture.golden('others.json'),
      );
    });

    it(`loses nothing of ${fixture.name} through the model`, () => {
      const { request } = bedrockConverse.decodeRequest(fixture.json());
      const forModel =
        fixture.name === 'claude-fields' ? 'anthropic.claude-sonnet-4-5-v1:0' : model;
      const { body, dropped } = bedrockConverse.encodeRequest(
        { ...request, model: forModel },
        context(),
      );
      // The model holds no tool to its schema, and has no cache points behind tools.
      const tools =
        fixture.name === 'tools'
          ? ['toolConfig.tools[0].cache_control', 'toolConfig.tools[0].function.strict']
          : [];
      expect(dropped).toEqual(tools);
      expect(body).toEqual(asTheModelTakesTools(fixture.json()));
    });
  }

  it.each([
    ['amazon.nova-2-lite-v1:0', { topK: 5, reasoning: { effort: 'low' } }],
    ['cohere.command-r-v1:0', { topK: 5, seed: 1, frequencyPenalty: 0.1, presencePenalty: 0.2 }],
    ['ai21.j2-mid-v1', { frequencyPenalty: 0.1, presencePenalty: 0.2 }],
    ['openai.gpt-oss-20b-1:0', { reasoning: { effort: 'high' } }],
    ['anthropic.claude-opus-4-6-v1', { user: 'u', topK: 5 }],
    ['meta.llama3-8b-instruct-v1:0', { user: 'u', serviceTier: 'flex' }],
  ])('reads back where %s keeps its own fields', (name, fields) => {
    const extensions = { format: 'openai-chat', fields: {} };
    const request = { model: name, messages: [], stream: false, extensions, ...fields };
    const { body, dropped } = bedrockConverse.encodeRequest(request, context());
    expect(dropped).toEqual([]);
    expect(bedrockConverse.decodeRequest(body).request).toEqual({
      ...request,
      model: '',
      extensions: { format: 'bedrock-converse', fields: {} },
    });
  });

  it('leaves the caller’s body as it came', () => {
    for (const fixture of fixtures('bedrock-converse', 'request')) {
      const body = fixture.json();
      const { request } = bedrockConverse.decodeRequest(body);
      bedrockConverse.encodeRequest(request, context());
      expect(body).toEqual(fixture.json());
    }
  });

  it.each([
    [{}, 'body.messages'],
    [{ messages: [{ role: 'system', content: [] }] }, 'body.messages[0].role'],
    [{ messages: [{ role: 'user', content: 'x' }] }, 'body.messages[0].content'],
    [{ messages: [{ role: 'user', content: [1] }] }, 'body.messages[0].content[0]'],
    [
      { messages: [], toolConfig: { tools: [{ toolSpec: {} }] } },
      'body.toolConfig.tools[0].toolSpec.name',
    ],
  ])('refuses %j with its path', (body, field) => {
    expect(() => bedrockConverse.decodeRequest(body as never)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });
});

/** Nova takes no cache points after tools. */
function asTheModelTakesTools(body: Record<string, unknown>): unknown {
  const config = body.toolConfig as { tools: { toolSpec?: object }[] } | undefined;
  if (config === undefined) return body;
  const tools = config.tools
    .filter((tool) => !('cachePoint' in tool))
    .map(({ toolSpec }) => ({ toolSpec: compact({ ...toolSpec, strict: undefined }) }));
  return { ...body, toolConfig: { ...config, tools } };
}

function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return { refused: (error as Error).message };
  }
}

describe('replies', () => {
  for (const fixture of fixtures('bedrock-converse', 'response')) {
    it(`decodes ${fixture.name}, and encodes it for callers, strict and not`, async () => {
      const head = { ...okHead, headers: { 'x-amzn-requestid': 'req-1' } };
      await expect(pretty(bedrockConverse.decodeReply(fixture.json(), head))).toMatchFileSnapshot(
        fixture.golden('model.json'),
      );
      const decode = (call: typeof chat, strict: boolean) =>
        JSON.parse(String(call.decode(fixture.bytes, context(strict), head).body));
      const shown = {
        strict: decode(chat, true),
        loose: decode(chat, false),
        messages: decode(messages, true),
        facts: chat.decode(fixture.bytes, context(), head).facts,
      };
      await expect(pretty(shown)).toMatchFileSnapshot(fixture.golden('callers.json'));
    });

    it(`gives ${fixture.name} back through the model`, () => {
      const reply = bedrockConverse.decodeReply(fixture.json())!;
      const options = { provider: 'p', strict: true, nowMs: 0, requestedModel: 'm', request: {} };
      expect(bedrockConverse.encodeReply(reply, options)).toEqual(fixture.json());
    });
  }

  it.each(['', '[]', '{}', '{"output":{}}', '{"message":"no"}'])(
    'refuses %j as not the format',
    (text) => {
      expect(() => chat.decode(Buffer.from(text), context(), okHead)).toThrow(
        expect.objectContaining({ code: 'upstream.invalid_response' }),
      );
    },
  );
});

describe('errors', () => {
  for (const fixture of fixtures('bedrock-converse', 'error')) {
    it(`tells callers of ${fixture.name}`, async () => {
      const status = Number(fixture.name.split('.').at(-1));
      const tell = (call: typeof chat) =>
        JSON.parse(String(call.decodeError(status, fixture.bytes, context()).body));
      await expect(pretty({ chat: tell(chat), messages: tell(messages) })).toMatchFileSnapshot(
        fixture.golden('callers.json'),
      );
    });
  }
});

describe('streams', () => {
  it('tell what a guardrail found, as whole replies do', () => {
    const decoder = bedrockConverse.openDecoder();
    const trace = { guardrail: { inputAssessment: {} } };
    const events = [
      ['messageStop', { stopReason: 'guardrail_intervened' }],
      ['metadata', { usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 }, trace }],
    ] as const;
    const told = events.flatMap(([name, body]) =>
      decoder.decode({ name, data: JSON.stringify(body) }),
    );
    expect(told).toContainEqual({
      type: 'finish',
      choice: 0,
      reason: 'content-filter',
      raw: 'guardrail_intervened',
      details: { trace },
    });
  });

  const ways = [
    { name: 'strict', call: chat, strict: true },
    { name: 'loose', call: chat, strict: false },
    { name: 'messages', call: messages, strict: true },
  ];
  const streams = fixtures('bedrock-converse', 'stream');
  for (const fixture of streams) {
    const frames = framesOf(fixture.bytes);
    for (const { name, call, strict } of ways) {
      it(`${name}: reads ${fixture.name} the same however its frames are cut`, async () => {
        const open = () => call.openStream(context(strict), {});
        const whole = play(open(), frames, []);
        const { phases, facts, fault } = play(open(), frames, everywhere(frames));
        await expect(whole.bytes.toString()).toMatchFileSnapshot(fixture.golden(`${name}.txt`));
        await expect(pretty({ phases, facts, fault })).toMatchFileSnapshot(
          fixture.golden('facts.json'),
        );
        for (const cuts of [everywhere(frames), insideCharacters(frames)]) {
          const again = play(open(), frames, cuts);
          expect(again.bytes.equals(whole.bytes)).toBe(true);
          expect(again.facts).toEqual(whole.facts);
          expect(again.fault).toEqual(whole.fault);
          expect(again.phases.at(-1)).toBe(whole.phases.at(-1));
        }
      });
    }

    it(`gives ${fixture.name} back through stream events`, () => {
      const options = { provider: 'p', strict: true, nowMs: 0, requestedModel: 'm', request: {} };
      const asEvents = Buffer.from(
        fixture.bytes.toString().replace(/^(?:exception|error): /gm, 'event: '),
      );
      if (/^(?:exception|error):/m.test(fixture.bytes.toString())) return;
      const once = play(
        new TranslatedStreamReader(
          bedrockConverse.openDecoder(),
          bedrockConverse,
          bedrockConverse.openEncoder(options),
        ),
        asEvents,
        [],
      );
      const twice = play(
        new TranslatedStreamReader(
          bedrockConverse.openDecoder(),
          bedrockConverse,
          bedrockConverse.openEncoder(options),
        ),
        once.bytes,
        [],
      );
      expect(twice.bytes.toString()).toBe(once.bytes.toString());
      expect(twice.facts).toEqual(once.facts);
      expect(once.bytes.length).toBeGreaterThan(0);
    });
  }

  it.each(ways)(
    '$name: any split of the frames gives the same bytes and facts',
    ({ call, strict }) => {
      fc.assert(
        fc.property(
          fc.constantFrom(...streams.map(({ bytes }) => framesOf(bytes))),
          fc.array(fc.nat(), { maxLength: 40 }),
          (frames, positions) => {
            const open = () => call.openStream(context(strict), {});
            const cuts = positions.map((position) => position % frames.length);
            const whole = play(open(), frames, []);
            const cut = play(open(), frames, cuts);
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
    },
  );

  it('fails on a flipped bit without taking it for the provider’s own words', () => {
    const frames = framesOf(streams.find(({ name }) => name === 'text')!.bytes);
    frames[frames.length - 1]! ^= 1;
    const reader = chat.openStream(context(), {});
    expect(play(reader, frames, []).fault).toMatchObject({ type: 'invalid_stream' });
    expect(reader.phase).toBe('failed');
    expect(reader.faultForwarded).toBe(false);
  });

  it('is not complete when the last frame is cut off', () => {
    const frames = framesOf(streams.find(({ name }) => name === 'cut')!.bytes);
    const reader = chat.openStream(context(), {});
    expect(play(reader, frames.subarray(0, frames.length - 1), []).phases).not.toContain(
      'complete',
    );
  });
});
