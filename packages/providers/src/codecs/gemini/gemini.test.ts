import { refuseGemini } from '@sluice/testkit';
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
import type { JsonObject } from '../../contract.ts';
import { ChatTranslation } from '../../translation/chat-translation.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { NativeTranslation } from '../../translation/native-translation.ts';
import { continuation } from '../anthropic-messages/encode-messages.ts';
import { gemini } from './index.ts';

const google = findProvider('google')!;
const entry = { format: 'gemini', path: '/' } as const;
/** Answers in this format, asked in OpenAI's and in Anthropic's. */
const chat = findTranslation(google, 'chatComplete');
const messages = findTranslation(google, 'messages');
/** Both sides speak this format: untouched, and by way of the model. */
const native = new NativeTranslation(entry);
const throughModel = new ChatTranslation(gemini, gemini, entry);

const contextOf = (body: JsonObject, strict = true) =>
  contextFor(google, strict, { model: String(body.model ?? 'gemini-2.5-flash'), request: body });

describe('requests', () => {
  for (const [kind, call] of [
    ['chat', chat],
    ['message', messages],
  ] as const)
    for (const fixture of fixtures('gemini', kind))
      it(`encodes ${fixture.name} of a ${kind} caller, and tells what was dropped`, async () => {
        const body = fixture.json();
        await expect(pretty(call.encode(body, contextOf(body)))).toMatchFileSnapshot(
          fixture.golden('gemini.json'),
        );
        expect(body).toEqual(fixture.json());
      });

  for (const fixture of fixtures('gemini', 'request')) {
    it(`decodes ${fixture.name}`, async () => {
      await expect(pretty(gemini.decodeRequest(fixture.json()))).toMatchFileSnapshot(
        fixture.golden('model.json'),
      );
    });

    it(`loses nothing of ${fixture.name} through the model`, () => {
      const body = fixture.json();
      const context = contextFor(google, true, { model: 'gemini-2.5-flash' });
      // A level is this model's business, and written as this model takes it.
      const level = body.generationConfig && JSON.stringify(body).includes('thinkingLevel');
      if (level) context.model = 'gemini-3-flash-preview';
      const { body: again, dropped } = gemini.encodeRequest(
        gemini.decodeRequest(body).request,
        context,
      );
      expect(dropped).toEqual([]);
      expect(again).toEqual(
        level
          ? {
              ...body,
              generationConfig: {
                ...(body.generationConfig as JsonObject),
                thinkingConfig: { includeThoughts: true, thinkingLevel: 'low' },
              },
            }
          : body,
      );
    });
  }

  it.each([
    [{ contents: 'x' }, 'body.contents'],
    [{ contents: [1] }, 'body.contents[0]'],
    [{ contents: [{ role: 'assistant', parts: [] }] }, 'body.contents[0].role'],
    [{ contents: [{ parts: {} }] }, 'body.contents[0].parts'],
    [
      { contents: [{ role: 'model', parts: [{ functionCall: {} }] }] },
      'body.contents[0].parts[0].functionCall.name',
    ],
    [
      { contents: [], tools: [{ functionDeclarations: [{}] }] },
      'body.tools[0].functionDeclarations[0].name',
    ],
  ] as [JsonObject, string][])('refuses %j with its path', (body, field) => {
    expect(() => gemini.decodeRequest(body)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });
});

describe('thinking', () => {
  const configOf = (model: string, more: object) => {
    const body = { model, messages: [], ...more } as unknown as JsonObject;
    const { body: encoded, dropped } = chat.encode(body, contextOf(body));
    const config = encoded?.generationConfig as JsonObject | undefined;
    return { ...(config?.thinkingConfig as JsonObject | undefined), dropped } as JsonObject;
  };

  it.each([
    ['gemini-2.5-flash', { reasoning_effort: 'none' }, { thinkingBudget: 0 }],
    ['gemini-2.5-pro', { reasoning_effort: 'none' }, { thinkingBudget: 128 }],
    ['gemini-2.5-flash', { reasoning_effort: 'minimal' }, { thinkingBudget: 1024 }],
    ['gemini-2.5-flash', { reasoning_effort: 'low' }, { thinkingBudget: 1024 }],
    ['gemini-2.5-flash', { reasoning_effort: 'medium' }, { thinkingBudget: 8192 }],
    ['gemini-2.5-flash', { reasoning_effort: 'high' }, { thinkingBudget: 24_576 }],
    ['gemini-2.5-flash', { reasoning_effort: 'xhigh' }, { thinkingBudget: 24_576 }],
    ['google.gemini-2.5-flash-lite', { thinking: budget(100) }, { thinkingBudget: 512 }],
    ['gemini-2.5-pro', { thinking: budget(50_000) }, { thinkingBudget: 32_768 }],
    ['gemini-2.5-flash', { thinking: budget(0) }, { thinkingBudget: 0 }],
    ['gemini-2.5-flash', { thinking: { type: 'disabled' } }, { thinkingBudget: 0 }],
    ['gemini-2.5-flash', { thinking: { type: 'adaptive' } }, { thinkingBudget: -1 }],
    ['gemini-3-pro-preview', { reasoning_effort: 'none' }, { thinkingLevel: 'low' }],
    ['gemini-3-pro-preview', { reasoning_effort: 'medium' }, { thinkingLevel: 'high' }],
    ['gemini-3-flash-preview', { reasoning_effort: 'none' }, { thinkingLevel: 'minimal' }],
    ['gemini-3-flash-preview', { reasoning_effort: 'medium' }, { thinkingLevel: 'medium' }],
    ['gemini-3-flash-preview', { reasoning_effort: 'xhigh' }, { thinkingLevel: 'high' }],
    ['gemini-3-flash-preview', { thinking: budget(3000) }, { thinkingBudget: 3000 }],
    ['gemini-3.8-flash', { reasoning_effort: 'minimal' }, { thinkingLevel: 'low' }],
    ['gemini-3.6-flash', { reasoning_effort: 'minimal' }, { thinkingLevel: 'minimal' }],
    ['models/gemini-4-ultra', { reasoning_effort: 'low' }, { thinkingLevel: 'low' }],
  ])('%s is told %j as %j', (model, asked, told) => {
    const { includeThoughts: _, ...config } = configOf(model, asked);
    expect(config).toEqual({ ...told, dropped: [] });
  });

  it('prefers an explicit mode to an effort, and never sends both a budget and a level', () => {
    for (const model of ['gemini-2.5-flash', 'gemini-3-flash-preview']) {
      const config = configOf(model, { thinking: budget(2000), reasoning_effort: 'high' });
      expect(config).toMatchObject({ includeThoughts: true, thinkingBudget: 2000 });
      expect(config).not.toHaveProperty('thinkingLevel');
    }
  });

  it('is dropped, and told so, where the model does not think or the effort is not known', () => {
    expect(configOf('gemini-2.0-flash', { reasoning_effort: 'low' })).toEqual({
      dropped: ['reasoning_effort'],
    });
    expect(configOf('gemini-2.0-flash', { thinking: budget(5000) }).dropped).toEqual(['thinking']);
    expect(configOf('gemini-2.0-flash', { reasoning_effort: 'none' }).dropped).toEqual([]);
    expect(configOf('gemini-3-pro', { reasoning_effort: 'constructor' }).dropped).toEqual([
      'reasoning_effort',
    ]);
  });
});

describe('models that judge more strictly', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const ask = (model: string, more: object) => {
    const messages = [{ role: 'user', content: 'x' }];
    const body = { model, messages, ...more } as unknown as JsonObject;
    const { body: encoded, dropped } = chat.encode(body, contextOf(body));
    return { encoded, dropped, refusal: refuseGemini(model, encoded) };
  };
  const strict = [
    'gemini-3.6-flash',
    'gemini-3.7-flash',
    'gemini-3.8-flash',
    'gemini-3.5-flash-lite',
  ];

  it.each(strict)(
    '%s is told of no sampling, which it refuses or ignores, and names it',
    (model) => {
      const sampling = {
        temperature: 0.2,
        top_p: 0.5,
        frequency_penalty: 1,
        presence_penalty: 0.5,
      };
      const { encoded, dropped, refusal } = ask(model, { ...sampling, top_k: 4, seed: 1 });
      expect(refusal).toBeUndefined();
      expect(encoded?.generationConfig).toEqual({ seed: 1 });
      expect(dropped).toEqual(Object.keys({ ...sampling, top_k: 4 }));
    },
  );

  it.each(strict)('%s is told what stands for nothing neither, without a word', (model) => {
    const none = { temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0 };
    const { encoded, dropped } = ask(model, none);
    expect(encoded).not.toHaveProperty('generationConfig');
    expect(dropped).toEqual([]);
  });

  it.each(strict)('%s is asked to go on with an answer that was begun for it', (model) => {
    const messages = [
      { role: 'user', content: 'Count' },
      { role: 'assistant', content: 'One, two' },
    ];
    const { encoded, dropped, refusal } = ask(model, { messages });
    expect(refusal).toBeUndefined();
    expect(encoded?.contents).toEqual([
      { role: 'user', parts: [{ text: 'Count' }] },
      { role: 'model', parts: [{ text: 'One, two' }] },
      { role: 'user', parts: [{ text: continuation }] },
    ]);
    expect(dropped).toEqual(['messages[1]']);
    const told = [...messages, { role: 'system', content: 'Be brief.' }];
    expect(ask(model, { messages: told })).toMatchObject({ dropped, refusal: undefined });
  });

  it.each(strict)('%s is told results by the ids of their calls', (model) => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'tool', tool_call_id: 'a', content: '1' },
    ];
    expect(ask(model, { messages }).refusal).toBeUndefined();
  });

  it('others are told what was asked', () => {
    const { encoded, dropped } = ask('gemini-3.5-flash', { temperature: 0.2 });
    expect(encoded?.generationConfig).toEqual({ temperature: 0.2 });
    expect(dropped).toEqual([]);
  });
});

function budget(budget_tokens: number): object {
  return { type: 'enabled', budget_tokens };
}

describe('replies', () => {
  for (const fixture of fixtures('gemini', 'response')) {
    it(`decodes ${fixture.name}, and encodes it for callers of every format`, async () => {
      await expect(pretty(gemini.decodeReply(fixture.json()))).toMatchFileSnapshot(
        fixture.golden('model.json'),
      );
      const replyOf = (call: typeof chat, strict: boolean) =>
        call.decode(fixture.bytes, contextFor(google, strict, { model: 'asked' }), okHead);
      const strict = replyOf(chat, true);
      const shown = {
        strict: JSON.parse(String(strict.body)),
        loose: JSON.parse(String(replyOf(chat, false).body)),
        messages: JSON.parse(String(replyOf(messages, true).body)),
        looseMessages: JSON.parse(String(replyOf(messages, false).body)),
        gemini: JSON.parse(String(replyOf(throughModel, true).body)),
        facts: strict.facts,
      };
      await expect(pretty(shown)).toMatchFileSnapshot(fixture.golden('callers.json'));
    });

    it(`reads the facts of ${fixture.name} without changing a byte`, () => {
      const read = native.decode(fixture.bytes, contextFor(google), okHead);
      expect(read.body).toBeUndefined();
      expect(read.facts).toEqual(chat.decode(fixture.bytes, contextFor(google), okHead).facts);
    });
  }

  it.each(['', '[]', '{}', '{"candidates":1}', '{"error":{}}'])(
    'refuses %j as not the format',
    (text) => {
      expect(() => chat.decode(Buffer.from(text), contextFor(google), okHead)).toThrow(
        expect.objectContaining({ code: 'upstream.invalid_response' }),
      );
    },
  );

  it('is not misled by words that every object knows', () => {
    const reply = { candidates: [{ finishReason: 'constructor' }] };
    const { body } = chat.decode(Buffer.from(JSON.stringify(reply)), contextFor(google), okHead);
    expect(JSON.parse(String(body)).choices[0].finish_reason).toBe('stop');
  });
});

describe('errors', () => {
  for (const fixture of fixtures('gemini', 'error')) {
    it(`tells callers of every format of ${fixture.name}`, async () => {
      const status = Number(fixture.name.split('.').at(-1));
      const told = [chat, messages, throughModel].map((call) =>
        JSON.parse(String(call.decodeError(status, fixture.bytes, contextFor(google)).body)),
      );
      await expect(pretty(told)).toMatchFileSnapshot(fixture.golden('callers.json'));
      expect(native.decodeError(status, fixture.bytes, contextFor(google)).body).toBeUndefined();
    });
  }
});

describe('streams', () => {
  const ways = [
    { name: 'native', call: native, strict: true },
    { name: 'strict', call: chat, strict: true },
    { name: 'loose', call: chat, strict: false },
    { name: 'messages', call: messages, strict: true },
    { name: 'loose-messages', call: messages, strict: false },
    { name: 'gemini', call: throughModel, strict: true },
  ];
  for (const fixture of fixtures('gemini', 'stream'))
    for (const { name, call, strict } of ways) {
      const open = () => call.openStream(contextFor(google, strict, { model: 'asked' }), {});

      it(`${name}: reads ${fixture.name} the same however it is cut`, async () => {
        const whole = play(open(), fixture.bytes, []);
        const { phases, facts, fault } = play(open(), fixture.bytes, everywhere(fixture.bytes));
        if (name === 'native') expect(whole.bytes.equals(fixture.bytes)).toBe(true);
        else
          await expect(whole.bytes.toString()).toMatchFileSnapshot(fixture.golden(`${name}.txt`));
        await expect(pretty({ phases, facts, fault })).toMatchFileSnapshot(
          fixture.golden(name === 'native' ? 'native.facts.json' : 'facts.json'),
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

  it('takes a drawing that is larger than a megabyte', () => {
    const inlineData = { mimeType: 'image/png', data: 'A'.repeat(3_000_000) };
    const candidate = { content: { parts: [{ inlineData }] }, finishReason: 'STOP' };
    const bytes = Buffer.from(`data: ${JSON.stringify({ candidates: [candidate] })}\n\n`);
    const played = play(chat.openStream(contextFor(google, false), {}), bytes, [65_536]);
    expect(played.phases.at(-1)).toBe('complete');
    expect(played.bytes.length).toBeGreaterThan(3_000_000);
  });

  it('refuses what is no event stream, such as the list that comes without alt=sse', () => {
    for (const text of ['[{"candidates":[]}]', '<html>\n\n</html>', 'data: <oops>\n\n'])
      for (const call of [native, chat]) {
        const played = play(call.openStream(contextFor(google), {}), Buffer.from(text), []);
        expect(played.phases.at(-1)).toBe('failed');
        expect(played.fault?.status).toBe(502);
      }
  });

  it('ends with an error that clients of this format raise', () => {
    const event = native.openStream(contextFor(google), {}).errorEvent({
      type: 'upstream_error',
      message: 'cut',
      status: 502,
      code: 'upstream.stream_cut',
    });
    expect(event.toString()).toBe(
      'data: {"error":{"code":502,"message":"cut","status":"UNAVAILABLE","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UPSTREAM_STREAM_CUT","domain":"gateway","metadata":{"code":"upstream.stream_cut"}}]}}\n\n',
    );
  });
});
