import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from './index.ts';

let demo: DemoUpstream;
let client: OpenAI;
beforeAll(async () => {
  demo = await startDemoUpstream({ port: 0 });
  client = new OpenAI({ baseURL: `${demo.url}/v1`, apiKey: 'none needed', maxRetries: 0 });
});
afterAll(() => demo.close());

const sound = () => toFile(Buffer.alloc(40_000), 'speech.mp3');

describe('endpoints that are no conversations', () => {
  it('flags what it has words for', async () => {
    const { results } = await client.moderations.create({
      model: 'omni-moderation-latest',
      input: ['Hello', 'I will attack'],
    });
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
    expect(results[1]?.categories.violence).toBe(true);
  });

  it('draws as many images as asked, and edits them', async () => {
    const drawn = await client.images.generate({ model: 'dall-e-3', prompt: 'a fox', n: 2 });
    expect(drawn.data).toHaveLength(2);
    const png = Buffer.from(drawn.data?.[0]?.b64_json ?? '', 'base64');
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    const image = await toFile(png, 'a.png', { type: 'image/png' });
    const edited = await client.images.edit({ model: 'dall-e-2', prompt: 'red', image });
    expect(edited.data).toHaveLength(1);
    await expect(client.images.generate({ model: 'dall-e-3', prompt: '' })).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    );
  });

  it('speaks for as long as the text', async () => {
    const speech = await client.audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input: 'Hello',
      response_format: 'wav',
    });
    const wav = Buffer.from(await speech.arrayBuffer());
    expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
    expect(wav).toHaveLength(44 + 5 * 1_200 * 2);
  });

  it('says what it was sent to hear, in every form', async () => {
    const ask = { model: 'whisper-1' };
    const plain = await client.audio.transcriptions.create({ ...ask, file: await sound() });
    expect(plain.text).toContain('speech.mp3 of 40000 bytes');
    const srt = await client.audio.translations.create({
      ...ask,
      file: await sound(),
      response_format: 'srt',
    });
    expect(String(srt)).toMatch(/^1\n00:00:00,000 --> /);
    const verbose = await client.audio.transcriptions.create({
      ...ask,
      file: await sound(),
      response_format: 'verbose_json',
    });
    expect(verbose.duration).toBe(3);
  });

  it('ranks documents by the words they share with the query', async () => {
    const response = await fetch(`${demo.url}/v1/rerank`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', query: 'red fox', documents: ['a dog', 'the red fox'] }),
    });
    expect(await response.json()).toMatchObject({
      results: [
        { index: 1, relevance_score: 1 },
        { index: 0, relevance_score: 0 },
      ],
      meta: { billed_units: { search_units: 1 } },
    });
  });

  it('refuses forms that are none', async () => {
    const response = await fetch(`${demo.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: 'nothing',
    });
    expect(response.status).toBe(400);
  });
});
