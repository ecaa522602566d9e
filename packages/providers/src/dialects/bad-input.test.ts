import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { pathOf } from '../address.ts';
import { findProvider } from '../catalog.ts';
import type { CallContext, JsonObject } from '../contract.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { azureOcr } from './ocr/index.ts';

/** The field that a request is refused for; undefined = it is taken. */
function refusedField(
  id: string,
  endpoint: Endpoint,
  request: JsonObject,
  more: Partial<CallContext> = {},
): string | undefined {
  const provider = findProvider(id)!;
  const model = typeof request.model === 'string' ? request.model : 'm';
  const context = contextFor(provider, true, { model, request, ...more });
  try {
    const call = findTranslation(provider, endpoint, context);
    pathOf(call.entry, context);
    call.encode(request, context);
    return undefined;
  } catch (error) {
    const { code, field } = error as { code: string; field: string };
    expect(code).toBe('request.invalid_field');
    return field;
  }
}

describe('a request that a dialect cannot send', () => {
  it.each<[string, JsonObject, string | undefined]>([
    ['no query', { documents: ['a'] }, 'body.query'],
    ['no documents', { query: 'q' }, 'body.documents'],
    ['an empty list', { query: 'q', documents: [] }, 'body.documents'],
    ['documents that are no list', { query: 'q', documents: 'a' }, 'body.documents'],
    ['a document that is a number', { query: 'q', documents: ['a', 7] }, 'body.documents[1]'],
    ['a document that is null', { query: 'q', documents: [null] }, 'body.documents[0]'],
    ['all there is', { query: 'q', documents: ['a', {}] }, undefined],
  ])('rerank with %s names the field', (_name, request, field) => {
    for (const id of ['jina', 'voyage', 'pinecone'])
      expect(refusedField(id, 'rerank', request)).toBe(field);
  });

  it.each<[string, JsonObject, string | undefined]>([
    ['no input', {}, 'body.input'],
    ['an empty list', { input: [] }, 'body.input'],
    ['token ids', { input: [1, 2] }, 'body.input[0]'],
    ['lists of token ids', { input: [[1, 2]] }, 'body.input[0]'],
    ['an object of nothing', { input: ['a', {}] }, 'body.input[1]'],
    ['an image', { input: { image: 'data:x' } }, 'body.input'],
    ['text', { input: 'a' }, undefined],
  ])('embeddings with %s name the field', (_name, request, field) => {
    for (const id of ['nomic', 'voyage', 'pinecone'])
      expect(refusedField(id, 'embed', request)).toBe(field);
  });

  it.each<[string, JsonObject, string | undefined]>([
    ['no prompt', {}, 'body.prompt'],
    ['an empty prompt', { prompt: '' }, 'body.prompt'],
    ['a size in words', { prompt: 'x', size: 'large' }, 'body.size'],
    ['a size of nothing', { prompt: 'x', size: 'x' }, 'body.size'],
    ['any size', { prompt: 'x', size: 'auto' }, undefined],
  ])('images with %s name the field', (_name, request, field) => {
    for (const id of ['segmind', 'stability-ai', 'fal-ai'])
      expect(refusedField(id, 'imageGenerate', request)).toBe(field);
  });

  it('an image to start from that is no data URI', () => {
    const request = { model: 'sd3', prompt: 'x', image: 'https://a.test/x.png' };
    expect(refusedField('stability-ai', 'imageGenerate', request)).toBe('body.image');
  });

  it('models that would lead elsewhere', () => {
    for (const model of ['..', '.', ''])
      expect(refusedField('segmind', 'imageGenerate', { model, prompt: 'x' }, { model })).toBe(
        'body.model',
      );
    const model = 'fal-ai/../other';
    expect(refusedField('fal-ai', 'imageGenerate', { prompt: 'x' }, { model })).toBe('body.model');
  });

  it('sound that is not there, and formats nobody speaks', () => {
    for (const id of ['deepgram', 'elevenlabs']) {
      expect(refusedField(id, 'createTranscription', { language: 'de' })).toBe('body.file');
      const speech = { input: 'x', voice: 'v', response_format: 'midi' };
      expect(refusedField(id, 'createSpeech', speech)).toBe('body.response_format');
      expect(refusedField(id, 'createSpeech', { voice: 'v' })).toBe('body.input');
    }
    expect(refusedField('elevenlabs', 'createSpeech', { input: 'x' })).toBe('body.voice');
    expect(refusedField('elevenlabs', 'createSpeech', { input: 'x', voice: '..' })).toBe(
      'body.voice',
    );
  });

  it('a document that Azure would have to fetch', () => {
    const encode = (document: JsonObject) => () =>
      azureOcr.encode({ document }, contextFor(findProvider('openai')!));
    expect(encode({ type: 'document_url', document_url: 'https://a.test/x.pdf' })).toThrow(
      expect.objectContaining({ field: 'body.document.document_url' }),
    );
    expect(encode({ type: 'image_url', image_url: { url: 'http://a.test/x.png' } })).toThrow(
      expect.objectContaining({ field: 'body.document.image_url' }),
    );
    expect(encode({ type: 'image_url', image_url: 'data:image/png;base64,AA' })()).toEqual({
      body: undefined,
      dropped: [],
    });
  });
});

describe('an image that was filtered', () => {
  it('is an error of the provider, not an answer', () => {
    const provider = findProvider('stability-ai')!;
    const context = contextFor(provider, true, { model: 'sd3' });
    const call = findTranslation(provider, 'imageGenerate', context);
    const bytes = Buffer.from('{"image":"QQ==","finish_reason":"CONTENT_FILTERED"}');
    expect(() => call.decode(bytes, context, { status: 200, headers: {} })).toThrow(
      expect.objectContaining({ code: 'upstream.error', status: 400, type: 'content_filter' }),
    );
  });

  it('may come as bytes where JSON was asked for', () => {
    const provider = findProvider('segmind')!;
    const context = contextFor(provider, true, { model: 'm' });
    const call = findTranslation(provider, 'imageGenerate', context);
    const head = { status: 200, headers: { 'content-type': 'image/jpeg' } };
    const { body, facts } = call.decode(Buffer.from([0xff, 0xd8]), context, head);
    expect(JSON.parse(String(body)).data).toEqual([{ b64_json: '/9g=' }]);
    expect(facts).toEqual({ units: { images: 1 } });
  });
});
