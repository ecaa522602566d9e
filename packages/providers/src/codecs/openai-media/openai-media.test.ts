import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import {
  contextFor,
  everywhere,
  fixturesIn,
  insideCharacters,
  okHead,
  play,
  pretty,
} from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { JsonObject } from '../../contract.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const openai = findProvider('openai')!;

function factsOf(endpoint: Endpoint, reply: unknown, request: JsonObject = {}) {
  const bytes = Buffer.from(typeof reply === 'string' ? reply : JSON.stringify(reply));
  const { body, facts } = findTranslation(openai, endpoint).decode(
    bytes,
    contextFor(openai, true, { request }),
    okHead,
  );
  expect(body).toBeUndefined();
  return facts;
}

describe('native streams of images, speech and transcripts', () => {
  for (const example of fixturesIn(join(import.meta.dirname, 'fixtures'), 'stream'))
    it(`passes ${example.name} untouched and reads its facts, however it is cut`, async () => {
      const call = findTranslation(
        openai,
        example.name === 'speech' ? 'createSpeech' : 'imageEdit',
      );
      const request = { input: 'Grüße 👋', stream_format: 'sse' };
      const played = [[], everywhere(example.bytes), insideCharacters(example.bytes)].map((cuts) =>
        play(call.openStream(contextFor(openai), request), example.bytes, cuts),
      );
      for (const { bytes, ...told } of played) {
        expect(bytes.equals(example.bytes)).toBe(true);
        const { phases, facts, fault } = told;
        await expect(pretty({ phase: phases.at(-1), facts, fault })).toMatchFileSnapshot(
          example.golden('facts.json'),
        );
      }
    });

  it('takes sound for what it is, and counts the characters of the text', () => {
    const call = findTranslation(openai, 'createSpeech');
    const sound = Buffer.from([0xff, 0xf3, 0x0a, 0x0a, 0x00]);
    const reader = call.openStream(contextFor(openai), { input: 'Grüße 👋' });
    const { bytes, phases, facts } = play(reader, sound, [1, 3]);
    expect(bytes.equals(sound)).toBe(true);
    expect(phases).toEqual(['preamble', 'content', 'complete']);
    expect(facts).toEqual({ units: { characters: 7 } });
  });
});

describe('native replies', () => {
  it('count images, and tokens where the model is charged by them', () => {
    expect(factsOf('imageGenerate', { created: 1, data: [{ url: 'a' }, { url: 'b' }] })).toEqual({
      units: { images: 2 },
      saidBytes: 0,
    });
    expect(
      factsOf('imageEdit', {
        created: 1,
        data: [{ b64_json: 'QQ==' }],
        usage: {
          total_tokens: 100,
          input_tokens: 60,
          output_tokens: 40,
          input_tokens_details: { text_tokens: 20, image_tokens: 40 },
        },
      }),
    ).toMatchObject({
      usage: { inputTokens: 60, outputTokens: 40, inputImageTokens: 40 },
      units: { images: 1 },
    });
  });

  it('count the seconds or the tokens of a transcript, never both', () => {
    const duration = { type: 'duration', seconds: 9 };
    expect(factsOf('createTranscription', { text: 'x', usage: duration })).toEqual({
      units: { audioSeconds: 9 },
    });
    expect(factsOf('createTranslation', { text: 'x', duration: 8.47 })).toEqual({
      units: { audioSeconds: 8.47 },
    });
    const tokens = {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { text_tokens: 0, audio_tokens: 14 },
      output_tokens: 3,
    };
    expect(factsOf('createTranscription', { text: 'x', duration: 1, usage: tokens })).toEqual({
      usage: expect.objectContaining({ inputTokens: 14, inputAudioTokens: 14, outputTokens: 3 }),
    });
  });

  it('count both where Mistral tells both', () => {
    const usage = { prompt_audio_seconds: 203, prompt_tokens: 4, completion_tokens: 635 };
    expect(factsOf('createTranscription', { text: 'x', usage })).toMatchObject({
      usage: { inputTokens: 4, outputTokens: 635 },
      units: { audioSeconds: 203 },
    });
  });

  it('let transcripts be text, and sound be sound', () => {
    const subtitle = '1\n00:00:00,000 --> 00:00:01,000\nHi\n';
    expect(factsOf('createTranscription', subtitle)).toEqual({ saidBytes: subtitle.length });
    expect(factsOf('createSpeech', '\u0000\u0001', { input: 'abc' })).toEqual({
      units: { characters: 3 },
    });
  });

  it('must be what they say where they can be nothing else', () => {
    for (const endpoint of ['imageGenerate', 'imageVariation', 'moderate'] as const)
      expect(() => factsOf(endpoint, { error: 'no' })).toThrow(
        expect.objectContaining({ code: 'upstream.invalid_response' }),
      );
    expect(factsOf('moderate', { id: 'modr-1', model: 'omni', results: [] })).toEqual({
      id: 'modr-1',
      model: 'omni',
      saidBytes: 0,
    });
  });
});
