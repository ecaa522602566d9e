import { join } from 'node:path';
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
import { openAiCompletions } from './index.ts';

const anthropic = findProvider('anthropic')!;
const upstage = findProvider('upstage')!;
/** By chat, with what OpenAI's chat answers. */
const byChat = findTranslation(upstage, 'complete');
/** By messages. */
const byMessages = findTranslation(anthropic, 'complete');

function golden(name: string): string {
  return join(import.meta.dirname, 'fixtures/golden', name);
}

describe('requests', () => {
  for (const fixture of fixtures('openai-completions', 'request')) {
    it(`asks ${fixture.name} by chat and by messages`, async () => {
      const { body, dropped } = byChat.encode(fixture.json(), contextFor(upstage));
      await expect(pretty({ body, dropped })).toMatchFileSnapshot(fixture.golden('chat.json'));
      const messages = byMessages.encode(fixture.json(), contextFor(anthropic));
      await expect(pretty(messages)).toMatchFileSnapshot(fixture.golden('messages.json'));
    });
  }

  it.each([
    [{ prompt: 'x' }, 'body.model'],
    [{ model: 'm' }, 'body.prompt'],
    [{ model: 'm', prompt: [] }, 'body.prompt'],
    [{ model: 'm', prompt: ['a', 'b'] }, 'body.prompt'],
    [{ model: 'm', prompt: [1, 2] }, 'body.prompt'],
    [{ model: 'm', prompt: [[1, 2]] }, 'body.prompt[0]'],
    [{ model: 'm', prompt: 'x', echo: true }, 'body.echo'],
    [{ model: 'm', prompt: 'x', suffix: '}' }, 'body.suffix'],
    [{ model: 'm', prompt: 'x', best_of: 2 }, 'body.best_of'],
    [{ model: 'm', prompt: 'x', best_of: 3, n: 2 }, 'body.best_of'],
  ])('refuses %j with the path of the fault', (body, field) => {
    expect(() => byChat.encode(body, contextFor(upstage))).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });

  it('takes what asks for nothing beyond one prompt', () => {
    const body = { model: 'm', prompt: ['x'], echo: false, suffix: null, best_of: 1 };
    expect(byChat.encode(body, contextFor(upstage)).body).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
    });
  });

  it('stays untouched where the provider completes itself', () => {
    const call = findTranslation(findProvider('openai')!, 'complete');
    expect(call.mode).toBe('native');
  });
});

/** Fixtures of both formats, of replies and streams. */
const names = [
  'text',
  'refusal',
  'max-tokens',
  'tool-calls',
  'thinking',
  'reasoning-logprobs',
  'cut',
  'crlf',
  'preamble-only',
  'mid-stream-error',
];

describe('replies', () => {
  for (const [format, call, provider] of [
    ['openai-chat', byChat, upstage],
    ['anthropic-messages', byMessages, anthropic],
  ] as const) {
    for (const fixture of someFixtures(format, 'response', ...names)) {
      it(`are completions: ${format}’s ${fixture.name}`, async () => {
        const { body } = call.decode(fixture.bytes, contextFor(provider), okHead);
        await expect(pretty(JSON.parse(String(body)))).toMatchFileSnapshot(
          golden(`${format}.${fixture.name}.response.json`),
        );
      });
    }

    for (const fixture of someFixtures(format, 'stream', ...names)) {
      it(`stream as completions, however cut: ${format}’s ${fixture.name}`, async () => {
        const open = () => call.openStream(contextFor(provider), { model: 'm' });
        const whole = play(open(), fixture.bytes, []);
        await expect(whole.bytes.toString()).toMatchFileSnapshot(
          golden(`${format}.${fixture.name}.stream.txt`),
        );
        for (const cuts of [everywhere(fixture.bytes), insideCharacters(fixture.bytes)])
          expect(play(open(), fixture.bytes, cuts).bytes.equals(whole.bytes)).toBe(true);
      });
    }
  }

  it('say of each token where it begins', () => {
    const entry = (token: string) => ({
      token,
      logprob: -1,
      top_logprobs: [{ token: 'x', logprob: -2 }],
    });
    const options = { provider: 'p', strict: true, nowMs: 0, requestedModel: 'm', request: {} };
    const encoder = openAiCompletions.openEncoder(options);
    const texts = ['ab', 'c'].map((text) =>
      encoder.encode({
        type: 'text-delta',
        choice: 0,
        block: 0,
        text,
        logprobs: { content: [entry(text)] },
      }),
    );
    const offsets = texts.map((text) => JSON.parse(text.slice(6)).choices[0].logprobs);
    expect(offsets).toEqual([
      { tokens: ['ab'], token_logprobs: [-1], top_logprobs: [{ x: -2 }], text_offset: [0] },
      { tokens: ['c'], token_logprobs: [-1], top_logprobs: [{ x: -2 }], text_offset: [2] },
    ]);
  });
});
