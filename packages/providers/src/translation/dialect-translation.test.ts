import { describe, expect, it } from 'vitest';
import { contextFor, okHead } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import type { BodyDialect, EndpointEntry, ProviderEntry } from '../contract.ts';
import { findTranslation } from './find-translation.ts';

const dialect: BodyDialect = {
  encode: (body, context) => ({
    body: { asked: body.input ?? null, model: context.model, extra: 1 },
    dropped: ['user'],
    headers: { 'x-kind': 'a' },
  }),
  decode: (bytes, context, head) => {
    const text = String(bytes);
    if (!text.startsWith('ok')) return undefined;
    const said = `${text} ${head.status} ${String(context.request.input)}`;
    return { body: Buffer.from(said), contentType: 'text/plain', facts: { model: 'm' } };
  },
};

function providerWith(entry: Partial<EndpointEntry>): ProviderEntry {
  const embed: EndpointEntry = { format: 'odd/embeddings', path: '/e', dialect, ...entry };
  return { ...findProvider('openai')!, id: 'odd', endpoints: { embed, rerank: embed } };
}

const provider = providerWith({});
const call = findTranslation(provider, 'embed');
const context = contextFor(provider, true, { model: 'm', request: { input: 'x' } });

describe('a call in a dialect', () => {
  it('is translated, between the vendor’s format and the caller’s', () => {
    expect([call.mode, call.upstreamFormat, call.callerFormat]).toEqual([
      'translated',
      'odd/embeddings',
      'openai-embeddings',
    ]);
  });

  it('hands on all that the dialect says of a request', () => {
    expect(call.encode({ input: 'x', user: 'u' }, context)).toEqual({
      body: { asked: 'x', model: 'm', extra: 1 },
      dropped: ['user'],
      headers: { 'x-kind': 'a' },
    });
  });

  it('applies quirks to what the dialect made, the endpoint’s before the provider’s', () => {
    const own = providerWith({ quirks: { drop: ['extra'] } });
    const encoded = findTranslation(own, 'embed').encode({ input: 'x' }, contextFor(own));
    expect(encoded.body).toEqual({ asked: 'x', model: '' });
    const general: ProviderEntry = { ...providerWith({}), quirks: { force: { extra: 2 } } };
    const forced = findTranslation(general, 'embed').encode({ input: 'x' }, contextFor(general));
    expect(forced.body).toMatchObject({ extra: 2 });
  });

  it('leaves bytes alone that are no JSON', () => {
    const bytes = { data: Buffer.from('--x'), contentType: 'multipart/form-data; boundary=x' };
    const form = providerWith({
      dialect: { ...dialect, encode: () => ({ body: undefined, dropped: [], bytes }) },
      quirks: { force: { a: 1 } },
    });
    expect(findTranslation(form, 'embed').encode({}, contextFor(form))).toEqual({
      body: undefined,
      dropped: [],
      bytes,
    });
  });

  it('reads a reply with its head and the request', () => {
    expect(call.decode(Buffer.from('ok'), context, okHead)).toEqual({
      body: Buffer.from('ok 200 x'),
      contentType: 'text/plain',
      facts: { model: 'm' },
    });
  });

  it('refuses what is not the vendor’s reply, and quotes its beginning for operators', () => {
    expect(() => call.decode(Buffer.from(`no${'o'.repeat(9000)}`), context, okHead)).toThrow(
      expect.objectContaining({
        code: 'upstream.invalid_response',
        detail: { body: `no${'o'.repeat(2046)}` },
      }),
    );
  });

  it('tells of errors in the caller’s envelope', () => {
    const { body } = call.decodeError(422, Buffer.from('{"detail":"bad"}'), context);
    expect(JSON.parse(String(body))).toEqual({
      error: { message: 'odd error: bad', type: null, param: null, code: null },
      provider: 'odd',
    });
  });

  it('tells callers of Anthropic’s endpoints in theirs', () => {
    const entry = { format: 'odd/count', path: '/c', dialect } as const;
    const counting = { ...provider, endpoints: { messagesCountTokens: entry } };
    const { body } = findTranslation(counting, 'messagesCountTokens').decodeError(
      429,
      Buffer.from('slow down'),
      contextFor(counting),
    );
    expect(JSON.parse(String(body))).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'odd error: slow down' },
      provider: 'odd',
    });
  });

  it('passes a stream on as it comes', () => {
    const reader = call.openStream(context, {});
    const chunk = Buffer.from('\u0000audio');
    expect(reader.phase).toBe('preamble');
    expect(reader.push(chunk)).toBe(chunk);
    expect(reader.phase).toBe('content');
    expect(reader.end()).toHaveLength(0);
    expect(reader.phase).toBe('complete');
  });

  it('does not stand in for an endpoint whose words it does not speak', () => {
    const entry = { format: 'odd/chat', path: '/c', dialect } as const;
    const chatting: ProviderEntry = { ...provider, endpoints: { chatComplete: entry } };
    expect(findTranslation(chatting, 'chatComplete').upstreamFormat).toBe('odd/chat');
    for (const endpoint of ['messages', 'complete', 'createModelResponse'] as const)
      expect(() => findTranslation(chatting, endpoint)).toThrow(
        expect.objectContaining({ code: 'provider.endpoint_unsupported' }),
      );
  });
});
