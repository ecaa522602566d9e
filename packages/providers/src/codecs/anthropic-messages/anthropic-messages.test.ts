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
import { anthropicMessages } from './index.ts';

const openai = findProvider('openai')!;
const anthropic = findProvider('anthropic')!;
const native = findTranslation(anthropic, 'messages');
/** Answers in this format, asked in OpenAI's. */
const chat = findTranslation(anthropic, 'chatComplete');
/** Asked in this format, answered in OpenAI's. */
const messages = findTranslation(openai, 'messages');

describe('requests', () => {
  for (const fixture of fixtures('anthropic-messages', 'request')) {
    it(`decodes ${fixture.name}, and encodes it for OpenAI with what was dropped`, async () => {
      await expect(pretty(anthropicMessages.decodeRequest(fixture.json()))).toMatchFileSnapshot(
        fixture.golden('model.json'),
      );
      await expect(pretty(messages.encode(fixture.json(), contextFor(openai)))).toMatchFileSnapshot(
        fixture.golden('openai.json'),
      );
    });

    it(`loses nothing of ${fixture.name} through the model`, () => {
      const { request } = anthropicMessages.decodeRequest(fixture.json());
      const { body, dropped } = anthropicMessages.encodeRequest(request, contextFor(anthropic));
      expect(dropped).toEqual([]);
      const blocks = (value: unknown): unknown =>
        typeof value === 'string' ? [{ type: 'text', text: value }] : value;
      const original = fixture.json();
      const expected =
        original.system === undefined ? original : { ...original, system: blocks(original.system) };
      expect(body).toEqual(expected);
    });
  }

  it('lifts version and betas out of the body, which the provider refuses there', () => {
    const body = {
      model: 'm',
      messages: [],
      max_tokens: 1,
      anthropic_beta: ['a', 'b'],
      anthropic_version: 'v',
    };
    expect(native.encode(body, contextFor(anthropic))).toEqual({
      body: { model: 'm', messages: [], max_tokens: 1 },
      dropped: [],
      headers: { 'anthropic-beta': 'a,b', 'anthropic-version': 'v' },
    });
  });

  it('keeps the line of its bills from other vendors, so that their caches know the prompt', () => {
    const ask = (system: unknown) =>
      messages.encode(
        {
          model: 'gpt-4.1',
          max_tokens: 5,
          system,
          messages: [{ role: 'user', content: 'Hi' }],
        } as never,
        contextFor(openai),
      );
    const line = (id: string) => `x-anthropic-billing-header: cc_version=2.1; cch=${id};`;
    const prompt = { type: 'text', text: 'You are a coder.' };
    const first = ask([{ type: 'text', text: line('a1') }, prompt]);
    expect(first.body?.messages).toEqual([
      { role: 'system', content: 'You are a coder.' },
      { role: 'user', content: 'Hi' },
    ]);
    expect(first.dropped).toEqual(['system.x-anthropic-billing-header']);
    expect(ask([{ type: 'text', text: line('b2') }, prompt])).toEqual(first);
    expect(ask(`${line('c3')}\n\nYou are a coder.`)).toEqual(first);
    expect(ask([prompt]).dropped).toEqual([]);
  });

  it.each([
    ['openai', 'gpt-5.1', 'thinking'],
    ['google', 'gemini-2.5-flash', 'thinking.type'],
    ['cohere', 'command-a-reasoning-08-2025', 'thinking.type'],
    ['bedrock', 'amazon.nova-2-lite-v1:0', 'thinking'],
  ])(
    'names a thought between tools alone where nobody has a word for it: %s',
    (id, model, name) => {
      const provider = findProvider(id)!;
      const context = contextFor(provider, true, { model });
      const body = { model, max_tokens: 5, messages: [], thinking: { type: 'between_tools' } };
      const { dropped } = findTranslation(provider, 'messages', context).encode(body, context);
      expect(dropped).toEqual([name]);
    },
  );

  it('keeps budget and limit apart: its own limit is raised, the caller’s stands', () => {
    const ask = (extra: object) =>
      chat.encode(
        { model: 'claude-sonnet-4-5', messages: [], ...extra } as never,
        contextFor(anthropic),
      ).body;
    const opus = { model: 'claude-opus-4-1', thinking: { type: 'enabled', budget_tokens: 31_000 } };
    expect(ask(opus)).toMatchObject({ max_tokens: 32_000, thinking: { budget_tokens: 31_000 } });
    expect(ask({ thinking: { type: 'enabled', budget_tokens: 70_000 } })).toMatchObject({
      max_tokens: 64_000,
      thinking: { budget_tokens: 59_904 },
    });
    expect(ask({ max_tokens: 4000, reasoning_effort: 'high' })).toMatchObject({
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
    });
    expect(ask({ max_tokens: 100, reasoning_effort: 'high' })?.thinking).toBeUndefined();
    expect(ask({})?.max_tokens).toBe(64_000);
  });
});

describe('a message thread, which only Anthropic keeps', () => {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };

  it('begins elsewhere without, which is named', () => {
    const asked = { ...body, thread: { type: 'create' } };
    const { request, dropped } = anthropicMessages.decodeRequest(asked);
    expect(dropped).toEqual(['thread']);
    expect(request).toEqual(anthropicMessages.decodeRequest(body).request);
  });

  it('goes on elsewhere as one that was forgotten', () => {
    const thread = { type: 'continue', previous_message_id: 'msg_1' };
    expect(() => anthropicMessages.decodeRequest({ ...body, thread })).toThrow(
      expect.objectContaining({ code: 'request.thread_not_found', status: 404 }),
    );
  });
});

describe('replies', () => {
  for (const fixture of fixtures('anthropic-messages', 'response')) {
    it(`decodes ${fixture.name}, and encodes it for chat callers, strict and not`, async () => {
      await expect(pretty(anthropicMessages.decodeReply(fixture.json()))).toMatchFileSnapshot(
        fixture.golden('model.json'),
      );
      const strict = chat.decode(fixture.bytes, contextFor(anthropic), okHead);
      const loose = chat.decode(fixture.bytes, contextFor(anthropic, false), okHead);
      const shown = {
        strict: JSON.parse(String(strict.body)),
        loose: JSON.parse(String(loose.body)),
        facts: strict.facts,
      };
      await expect(pretty(shown)).toMatchFileSnapshot(fixture.golden('openai.json'));
    });

    it(`reads the facts of ${fixture.name} without changing a byte`, () => {
      const read = native.decode(fixture.bytes, contextFor(anthropic), okHead);
      expect(read.body).toBeUndefined();
      expect(read.facts).toEqual(chat.decode(fixture.bytes, contextFor(anthropic), okHead).facts);
    });
  }

  it('is not misled by words that every object knows', () => {
    const message = { type: 'message', content: [], stop_reason: 'constructor' };
    const { body } = chat.decode(
      Buffer.from(JSON.stringify(message)),
      contextFor(anthropic),
      okHead,
    );
    expect(JSON.parse(String(body)).choices[0].finish_reason).toBe('stop');
    const ask = { model: 'claude-sonnet-4-5', messages: [], reasoning_effort: 'constructor' };
    expect(chat.encode(ask, contextFor(anthropic)).dropped).toEqual(['reasoning_effort']);
  });

  it.each(['', '[]', '{}', '{"type":"message"}'])('refuses %j as not the format', (text) => {
    expect(() => chat.decode(Buffer.from(text), contextFor(anthropic), okHead)).toThrow(
      expect.objectContaining({ code: 'upstream.invalid_response' }),
    );
  });
});

describe('errors', () => {
  for (const fixture of fixtures('anthropic-messages', 'error')) {
    it(`tells a chat caller of ${fixture.name}`, async () => {
      const status = Number(fixture.name.split('.').at(-1));
      const { body } = chat.decodeError(status, fixture.bytes, contextFor(anthropic));
      await expect(pretty(JSON.parse(String(body)))).toMatchFileSnapshot(
        fixture.golden('openai.json'),
      );
      expect(native.decodeError(status, fixture.bytes, contextFor(anthropic)).body).toBeUndefined();
    });
  }
});

describe('streams', () => {
  const ways = [
    { name: 'native', call: native, strict: true },
    { name: 'strict', call: chat, strict: true },
    { name: 'loose', call: chat, strict: false },
  ];
  for (const fixture of fixtures('anthropic-messages', 'stream')) {
    for (const { name, call, strict } of ways) {
      const open = () => call.openStream(contextFor(anthropic, strict), { model: 'claude' });

      it(`${name}: reads ${fixture.name} the same however it is cut`, async () => {
        const whole = play(open(), fixture.bytes, []);
        const { phases, facts, fault } = play(open(), fixture.bytes, everywhere(fixture.bytes));
        if (name === 'native') expect(whole.bytes.equals(fixture.bytes)).toBe(true);
        else
          await expect(whole.bytes.toString()).toMatchFileSnapshot(
            fixture.golden(`${name}.openai.txt`),
          );
        await expect(pretty({ phases, facts, fault })).toMatchFileSnapshot(
          fixture.golden('facts.json'),
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
});
