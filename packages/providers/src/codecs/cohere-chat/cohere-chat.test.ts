import { join } from 'node:path';
import { refuseCohere } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import {
  contextFor,
  everywhere,
  fixtures,
  insideCharacters,
  okHead,
  play,
  pretty,
  someFixtures,
} from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { openAiChat } from '../openai-chat/index.ts';
import { cohereChat } from './index.ts';

const cohere = findProvider('cohere')!;
const chat = findTranslation(cohere, 'chatComplete');
const messages = findTranslation(cohere, 'messages');
const context = contextFor(cohere);

const asked = someFixtures(
  'openai-chat',
  'request',
  'basic',
  'tools',
  'multimodal',
  'json-schema',
  'thinking',
  'unsupported-fields',
);

const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } });

describe('requests', () => {
  for (const fixture of fixtures('cohere-chat', 'request')) {
    it(`decodes ${fixture.name}, and encodes it for OpenAI with what was dropped`, async () => {
      const { request, dropped } = cohereChat.decodeRequest(fixture.json());
      await expect(pretty({ request, dropped })).toMatchFileSnapshot(fixture.golden('model.json'));
      const encoded = openAiChat.encodeRequest(request, contextFor(findProvider('openai')!));
      await expect(pretty(encoded)).toMatchFileSnapshot(fixture.golden('openai.json'));
    });

    it(`gives ${fixture.name} back as it came, but for ids of documents`, () => {
      const { request } = cohereChat.decodeRequest(fixture.json());
      const again = cohereChat.encodeRequest(request, context);
      expect(again.dropped).toEqual([]);
      expect(cohereChat.decodeRequest(again.body).request).toEqual(request);
    });
  }

  for (const fixture of asked) {
    it(`encodes OpenAI’s ${fixture.name} with what was dropped`, async () => {
      const golden = join(
        import.meta.dirname,
        'fixtures/golden',
        `openai.${fixture.name}.request.json`,
      );
      await expect(pretty(chat.encode(fixture.json(), context))).toMatchFileSnapshot(golden);
    });
  }

  it('tells a choice of one tool by offering no other', () => {
    const { body } = chat.encode(
      {
        model: 'm',
        messages: [],
        tools: [tool('a'), tool('b')],
        tool_choice: { type: 'function', function: { name: 'b' } },
      },
      context,
    );
    expect(body).toMatchObject({ tools: [tool('b')], tool_choice: 'REQUIRED' });
  });

  it('turns an effort into thinking only where the model thinks', () => {
    const encode = (model: string, reasoning_effort: string) =>
      chat.encode({ model, messages: [], reasoning_effort }, context);
    expect(encode('command-a-reasoning-08-2025', 'medium').body).toMatchObject({
      thinking: { type: 'enabled', token_budget: 8192 },
    });
    expect(encode('command-a-reasoning-08-2025', 'none').body).toMatchObject({
      thinking: { type: 'disabled' },
    });
    expect(encode('command-r7b-12-2024', 'medium')).toMatchObject({
      dropped: ['reasoning_effort'],
    });
    expect(encode('command-r7b-12-2024', 'medium').body).not.toHaveProperty('thinking');
  });

  describe('what the vendor refuses', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const formatOf = (own: object) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: own } },
    });
    const user = { role: 'user', content: 'x' };
    const asked = (more: object) =>
      chat.encode(
        { model: 'command-a-03-2025', messages: [{ role: 'system', content: 's' }, user], ...more },
        context,
      );
    const refusal = (body: object | undefined) => refuseCohere(body);

    it('beside tools, or of a schema that requires nothing, is told in words', () => {
      const open = { type: 'object', properties: {} };
      for (const [more, named] of [
        [{ ...formatOf(schema), tools: [tool('a')] }, 'response_format.json_schema'],
        [formatOf(open), 'response_format.json_schema'],
        [{ response_format: { type: 'json_object' }, tools: [tool('a')] }, 'response_format'],
      ] as const) {
        const { body, dropped } = asked(more);
        expect([refusal(body), dropped]).toEqual([undefined, [named]]);
        expect(body).not.toHaveProperty('response_format');
        expect(body?.messages).toMatchObject([
          { role: 'system', content: 's' },
          { role: 'system', content: expect.stringContaining('JSON') },
          user,
        ]);
      }
      const { body, dropped } = asked(formatOf(schema));
      expect([body?.response_format, dropped]).toEqual([
        { type: 'json_object', json_schema: schema },
        [],
      ]);
    });

    it('is no choice of tools where there are none', () => {
      const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] };
      const { body, dropped } = asked({
        tools: [tool('a')],
        tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
      });
      expect([refusal(body), dropped]).toEqual([undefined, ['tools[0]', 'tool_choice']]);
    });

    it('is no thought before an answer, of a model that does not think', () => {
      const answer = { role: 'assistant', content: 'A', reasoning_content: 'Hm.' };
      const turns = { messages: [user, answer, user] };
      const { body, dropped } = asked(turns);
      expect([refusal(body), dropped]).toEqual([undefined, ['messages[1].thinking']]);
      const thinks = asked({ ...turns, model: 'command-a-reasoning-08-2025' });
      expect(refusal(thinks.body)).toBeUndefined();
      expect(JSON.stringify(thinks.body)).toContain('"thinking":"Hm."');
    });
  });

  it.each([
    [{ messages: [] }, 'body.model'],
    [{ model: 'm' }, 'body.messages'],
    [{ model: 'm', messages: [{ role: 'chatbot' }] }, 'body.messages[0].role'],
    [{ model: 'm', messages: [{ role: 'user', content: 7 }] }, 'body.messages[0].content'],
    [{ model: 'm', messages: [{ role: 'tool', content: '' }] }, 'body.messages[0].tool_call_id'],
    [
      {
        model: 'm',
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }],
      },
      'body.messages[0].content[0].image_url.url',
    ],
    [{ model: 'm', messages: [], tools: [{ type: 'function' }] }, 'body.tools[0].function.name'],
  ])('refuses %j with the path of the fault', (body, field) => {
    expect(() => cohereChat.decodeRequest(body as never)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });

  it('refuses several answers', () => {
    expect(() => chat.encode({ model: 'm', messages: [], n: 2 }, context)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field: 'body.n' }),
    );
  });
});

describe('replies', () => {
  for (const fixture of fixtures('cohere-chat', 'response')) {
    it(`decodes ${fixture.name}, and encodes it for callers of both formats`, async () => {
      const model = cohereChat.decodeReply(fixture.json());
      await expect(pretty(model)).toMatchFileSnapshot(fixture.golden('model.json'));
      for (const [name, call] of Object.entries({ openai: chat, anthropic: messages })) {
        const { body, facts } = call.decode(fixture.bytes, contextFor(cohere, false), okHead);
        await expect(pretty({ body: JSON.parse(String(body)), facts })).toMatchFileSnapshot(
          fixture.golden(`${name}.json`),
        );
      }
    });

    it(`gives ${fixture.name} back as a model that says the same`, () => {
      const model = cohereChat.decodeReply(fixture.json())!;
      const options = { provider: 'p', strict: true, nowMs: 0, requestedModel: 'm', request: {} };
      const again = cohereChat.encodeReply(model, options);
      expect(cohereChat.decodeReply(again)).toEqual(model);
    });
  }

  it.each(['', '[]', '{}', '{"message":"no"}', '{"message":{"role":"user"}}', '<html>'])(
    'refuses %j as not the format',
    (text) => {
      expect(() => chat.decode(Buffer.from(text), context, okHead)).toThrow(
        expect.objectContaining({ code: 'upstream.invalid_response' }),
      );
    },
  );

  it('reads what it can of a message with odd content', () => {
    const content = [7, { type: 'image_url' }, { type: 'text', text: 'ok' }];
    expect(
      cohereChat.decodeReply({ message: { role: 'assistant', content } } as never),
    ).toMatchObject({
      choices: [{ parts: [{ type: 'text', text: 'ok' }], finishReason: 'other' }],
    });
  });
});

describe('errors', () => {
  for (const fixture of fixtures('cohere-chat', 'error')) {
    it(`tells a caller of chat of ${fixture.name}`, async () => {
      const status = Number(fixture.name.split('.').at(-1));
      const { body } = chat.decodeError(status, fixture.bytes, context);
      await expect(pretty(JSON.parse(String(body)))).toMatchFileSnapshot(
        fixture.golden('openai.json'),
      );
    });
  }
});

describe('streams', () => {
  for (const fixture of fixtures('cohere-chat', 'stream')) {
    for (const [name, call] of Object.entries({ openai: chat, anthropic: messages })) {
      it(`tells ${fixture.name} to a caller of ${name} the same however it is cut`, async () => {
        const open = () => call.openStream(contextFor(cohere, false), { model: 'command-a' });
        const whole = play(open(), fixture.bytes, []);
        await expect(whole.bytes.toString()).toMatchFileSnapshot(fixture.golden(`${name}.txt`));
        const { facts, fault } = whole;
        const { phases } = play(open(), fixture.bytes, everywhere(fixture.bytes));
        await expect(pretty({ phases, facts, fault })).toMatchFileSnapshot(
          fixture.golden('facts.json'),
        );
        for (const cuts of [everywhere(fixture.bytes), insideCharacters(fixture.bytes)]) {
          const again = play(open(), fixture.bytes, cuts);
          expect(again.bytes.equals(whole.bytes)).toBe(true);
          expect(again.facts).toEqual(whole.facts);
          expect(again.fault).toEqual(whole.fault);
        }
      });
    }
  }

  it('fails on garbage, and never throws', () => {
    for (const text of ['data: {oops\n\n', '<html>\n\n', 'data: {"message":"overloaded"}\n\n']) {
      const played = play(chat.openStream(context, {}), Buffer.from(text), []);
      expect(played.phases.at(-1)).toBe('failed');
      expect(played.fault?.status).toBe(502);
    }
  });

  it('does not take an end of bytes for the end of a message', () => {
    const cut = Buffer.from('event: content-delta\ndata: {"type":"content-delta","delta":{}}\n\n');
    expect(play(chat.openStream(context, {}), cut, []).phases.at(-1)).not.toBe('complete');
  });
});
