import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contextFor, okHead, play } from '../../test/fixtures.ts';
import { baseUrlOf, pathOf } from '../address.ts';
import { authHeaders } from '../auth-headers.ts';
import type { CallFacts } from '../call-facts.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from '../translation/find-translation.ts';

const chatting = [
  'ai21',
  'bytez',
  'cohere',
  'oracle',
  'palm',
  'predibase',
  'reka-ai',
  'workers-ai',
] as const;

function factsWith(
  model: string,
  settings: Record<string, string> = {},
  stream = false,
): CallFacts {
  return { model, stream, setting: (name) => settings[name] };
}

describe('providers of chat', () => {
  for (const id of chatting) {
    it(`${id} is called at the address and with the authorisation of its fixture`, () => {
      const file = join(import.meta.dirname, '../../fixtures', `${id}.json`);
      const fixture = JSON.parse(readFileSync(file, 'utf8'));
      const provider = findProvider(id)!;
      const facts = factsWith(fixture.model ?? 'm', fixture.settings);
      const { entry } = findTranslation(provider, 'chatComplete', facts);
      expect({
        url: baseUrlOf(provider, entry, facts) + pathOf(entry, facts),
        headers: authHeaders(provider, { apiKey: fixture.apiKey, configurations: {} }, {}, entry),
      }).toEqual(fixture.request);
    });

    it(`${id} offers completions and messages, by chat where it has none`, () => {
      const provider = findProvider(id)!;
      for (const endpoint of ['complete', 'messages'] as const)
        expect(findTranslation(provider, endpoint).entry.format).toMatch(/chat|completions/);
    });
  }
});

describe('workers-ai', () => {
  const provider = findProvider('workers-ai')!;
  const account = { 'workers-ai-account-id': '0f1e' };
  const images = findTranslation(provider, 'imageGenerate');

  it('needs an account that leads nowhere else', () => {
    const { entry } = findTranslation(provider, 'chatComplete');
    for (const [settings, code] of [
      [{}, 'provider.setting_missing'],
      [{ 'workers-ai-account-id': '../zones' }, 'provider.setting_invalid'],
      [{ 'workers-ai-account-id': 'a/b' }, 'provider.setting_invalid'],
    ] as const)
      expect(() => baseUrlOf(provider, entry, factsWith('m', settings))).toThrow(
        expect.objectContaining({ code, field: 'x-service-workers-ai-account-id' }),
      );
  });

  it('finds a picture’s model in the path, and nothing above it', () => {
    const path = (model: string) => pathOf(images.entry, factsWith(model, account));
    expect(path('@cf/black-forest-labs/flux-1-schnell')).toBe(
      '/run/@cf/black-forest-labs/flux-1-schnell',
    );
    expect(path('a?b#c')).toBe('/run/a%3Fb%23c');
    expect(() => path('@cf/../../other')).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field: 'body.model' }),
    );
  });

  it('asks for a picture in its own words', () => {
    const body = { model: 'm', prompt: 'x', size: '512x768', steps: 4, n: 1, seed: 7, style: 'v' };
    expect(images.encode(body, contextFor(provider))).toEqual({
      body: { prompt: 'x', seed: 7, width: 512, height: 768, steps: 4, num_steps: 4 },
      dropped: ['style'],
    });
  });

  it.each([
    [{}, 'body.prompt'],
    [{ prompt: 'x', n: 2 }, 'body.n'],
    [{ prompt: 'x', size: 'large' }, 'body.size'],
  ])('refuses %j with the path of the fault', (body, field) => {
    expect(() => images.encode(body, contextFor(provider))).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });

  it('takes a picture from JSON, or as the bytes that came', () => {
    const json = Buffer.from('{"result":{"image":"aGk="},"success":true}');
    const png = { status: 200, headers: { 'content-type': 'image/png' } };
    for (const reply of [
      images.decode(json, contextFor(provider), okHead),
      images.decode(Buffer.from('hi'), contextFor(provider), png),
    ]) {
      expect(JSON.parse(String(reply.body))).toEqual({
        created: 1_763_000_000,
        data: [{ b64_json: 'aGk=' }],
      });
      expect(reply.facts).toEqual({ units: { images: 1 } });
    }
    expect(() => images.decode(Buffer.from('{"result":{}}'), contextFor(provider), okHead)).toThrow(
      expect.objectContaining({ code: 'upstream.invalid_response' }),
    );
  });

  it('tells of Cloudflare’s errors', () => {
    const text = '{"success":false,"errors":[{"code":7000,"message":"No route"}]}';
    const { body } = images.decodeError(400, Buffer.from(text), contextFor(provider));
    expect(JSON.parse(String(body)).error.message).toBe('workers-ai error: Error 7000:No route');
  });

  it('answers responses itself for the models that can', () => {
    const native = findTranslation(
      provider,
      'createModelResponse',
      factsWith('@cf/openai/gpt-oss-120b'),
    );
    expect(native.mode).toBe('native');
  });
});

describe('predibase', () => {
  const provider = findProvider('predibase')!;
  const call = findTranslation(provider, 'chatComplete');

  it('names the adapter in the body, and the deployment in the path', () => {
    const { body } = call.encode({ model: 'qwen3-8b:repo/1', messages: [] }, contextFor(provider));
    expect(body).toEqual({ model: 'repo/1', messages: [] });
    const base = call.encode({ model: 'qwen3-8b', messages: [] }, contextFor(provider));
    expect(base.body).toMatchObject({ model: '' });
  });

  it('needs its tenant', () => {
    expect(() => pathOf(call.entry, factsWith('m'))).toThrow(
      expect.objectContaining({ code: 'provider.setting_missing' }),
    );
  });
});

describe('palm', () => {
  const provider = findProvider('palm')!;
  const call = findTranslation(provider, 'chatComplete');
  const context = contextFor(provider);

  it('is asked by turns of text', () => {
    const asked = {
      model: 'chat-bison-001',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: 'Bye' },
      ],
      n: 2,
      max_tokens: 5,
    };
    expect(call.encode(asked, context)).toEqual({
      body: {
        prompt: {
          context: 'Be brief.',
          messages: [
            { author: '0', content: 'Hi' },
            { author: '1', content: 'Hello' },
            { author: '0', content: 'Bye' },
          ],
        },
        candidateCount: 2,
      },
      dropped: ['max_tokens'],
    });
  });

  it('refuses to stream, since it cannot', () => {
    const body = { model: 'm', messages: [], stream: true };
    expect(() => call.encode(body, context)).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field: 'body.stream' }),
    );
  });

  it('answers, or says what held the answer back', () => {
    const read = (text: string) =>
      JSON.parse(String(call.decode(Buffer.from(text), context, okHead).body)).choices;
    expect(read('{"candidates":[{"author":"1","content":"Hello"}]}')).toMatchObject([
      { message: { content: 'Hello' }, finish_reason: 'stop' },
    ]);
    expect(read('{"filters":[{"reason":"SAFETY"}]}')).toMatchObject([
      { message: { content: '' }, finish_reason: 'content_filter' },
    ]);
    expect(() => call.decode(Buffer.from('{}'), context, okHead)).toThrow(
      expect.objectContaining({ code: 'upstream.invalid_response' }),
    );
  });
});

describe('triton', () => {
  const provider = findProvider('triton')!;
  const call = findTranslation(provider, 'complete');
  const context = contextFor(provider);

  it('has no address of its own, and one path for streams', () => {
    expect(() => baseUrlOf(provider, call.entry, factsWith('m'))).toThrow(
      expect.objectContaining({ code: 'provider.setting_missing' }),
    );
    expect(pathOf(call.entry, factsWith('m'))).toBe('/generate');
    expect(pathOf(call.entry, factsWith('m', {}, true))).toBe('/generate_stream');
  });

  it('completes a prompt with what its model knows', () => {
    const asked = {
      model: 'm',
      prompt: 'Once',
      max_tokens: 5,
      stop: ['.'],
      bad_words: ['x'],
      seed: 2,
    };
    expect(call.encode(asked, context)).toEqual({
      body: {
        text_input: 'Once',
        max_tokens: 5,
        stop_words: ['.'],
        random_seed: 2,
        bad_words: ['x'],
      },
      dropped: [],
    });
    const reply = call.decode(
      Buffer.from('{"model_name":"m","text_output":" upon"}'),
      context,
      okHead,
    );
    expect(JSON.parse(String(reply.body))).toMatchObject({
      object: 'text_completion',
      choices: [{ text: ' upon', finish_reason: 'stop' }],
    });
    expect(reply.facts.usage).toBeUndefined();
  });

  it('streams pieces of text, however cut, and tells of errors', () => {
    const stream = Buffer.from(
      'data: {"model_name":"m","text_output":"Grü"}\n\ndata: {"text_output":"ezi"}\n\n',
    );
    const open = () => call.openStream(context, { model: 'm' });
    const whole = play(open(), stream, []);
    const texts = String(whole.bytes).match(/"text":"[^"]*"/g);
    expect(texts).toEqual(['"text":"Grü"', '"text":"ezi"', '"text":""']);
    expect(whole.phases.at(-1)).toBe('complete');
    for (let cut = 0; cut < stream.length; cut++)
      expect(play(open(), stream, [cut]).bytes.equals(whole.bytes)).toBe(true);
    const failed = play(open(), Buffer.from('data: {"error":"no model"}\n\n'), []);
    expect(failed.fault).toEqual({ type: 'upstream_error', message: 'no model', status: 502 });
    expect(play(open(), Buffer.from('data: 7\n\n'), []).phases.at(-1)).toBe('failed');
    expect(play(open(), Buffer.alloc(0), []).phases.at(-1)).toBe('preamble');
  });

  it('does not chat', () => {
    expect(() => findTranslation(provider, 'chatComplete')).toThrow(
      expect.objectContaining({ code: 'provider.endpoint_unsupported' }),
    );
  });
});
