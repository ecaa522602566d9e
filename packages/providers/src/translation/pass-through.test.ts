import { operations } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor, okHead } from '../../test/fixtures.ts';
import { pathOf } from '../address.ts';
import { findProvider, providerIds } from '../catalog.ts';
import type { EndpointEntry, ProviderEntry } from '../contract.ts';
import { isChoice } from './find-translation.ts';
import { findPassThrough, passesUnknown } from './pass-through.ts';

const setting = () => 'east1';
const models = ['model-1', 'anthropic.claude-3', 'mistralai.mistral-1', 'a/b'];

interface Asked {
  provider: ProviderEntry;
  endpoint: keyof ProviderEntry['endpoints'];
  entry: EndpointEntry;
  path: string;
}

/** Every path at which the gateway itself asks a provider for something that is charged. */
function* askedPaths(): Generator<Asked> {
  for (const id of providerIds()) {
    const provider = findProvider(id)!;
    for (const endpoint of Object.keys(provider.endpoints) as Asked['endpoint'][]) {
      const offered = provider.endpoints[endpoint];
      const { uses, at } = operations[endpoint];
      if (offered === undefined || uses === 'nothing' || !at.startsWith('POST')) continue;
      for (const entry of isChoice(offered) ? offered.all : [offered])
        for (const model of models)
          for (const stream of [false, true]) {
            const request = { voice: 'aVoiceOfTwentyLetter' };
            const context = contextFor(provider, true, { model, stream, setting, request });
            if (isChoice(offered) && offered.choose(context, endpoint) !== entry) continue;
            const [path = ''] = pathOf(entry, context).split('?');
            yield { provider, endpoint, entry, path };
          }
    }
  }
}

describe('what passes through', () => {
  it('is read at every path at which the gateway itself would ask for it', () => {
    const asked = [...askedPaths()];
    expect(asked.length).toBeGreaterThan(1000);
    const unread = asked
      .filter(({ provider, path }) => findPassThrough(provider, path) === undefined)
      .map(({ provider, endpoint, path }) => `${provider.id} ${endpoint} ${path}`);
    expect(
      unread.filter(
        (each) =>
          // Their paths are models' names alone.
          !/^(?:fal-ai|segmind) imageGenerate /.test(each) &&
          // They have no pictures.
          !/^vertex-ai imageGenerate .*\/publishers\/(?:anthropic|mistralai)\//.test(each),
      ),
    ).toEqual([]);
  });

  it('costs nothing where the operation does, and what it is told where several share a path', () => {
    const usesAt = (id: string, path: string) =>
      operations[findPassThrough(findProvider(id)!, path)?.endpoint ?? 'proxy'].uses;
    expect([
      usesAt('anthropic', '/v1/messages/count_tokens'),
      usesAt('anthropic', '/v1/messages'),
      usesAt('openai', '/v1/moderations'),
      usesAt('databricks', '/serving-endpoints/e/invocations'),
      usesAt('deepgram', '/v1/speak'),
    ]).toEqual(['nothing', 'text', 'nothing', 'text', 'units']);
  });

  it('is what was said, where several share a path and none is told its usage', () => {
    const databricks = findProvider('databricks')!;
    const read = findPassThrough(databricks, '/serving-endpoints/e/invocations')!.translation;
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' } }];
    const factsOf = (reply: object) =>
      read.decode(Buffer.from(JSON.stringify(reply)), contextFor(databricks), okHead).facts;
    expect(factsOf({ choices }).saidBytes).toBe('Hello'.length);
    expect(factsOf({ predictions: [1] })).toEqual({});
  });

  describe('and is large', () => {
    const picture = 'A'.repeat(3_000_000);
    const named = (event: { type: string }) =>
      `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    const part = (data: object) => ({ candidates: [{ content: { parts: [data] } }] });
    const drawn = {
      candidates: [
        {
          content: { parts: [{ inlineData: { mimeType: 'image/png', data: picture } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 500, totalTokenCount: 1500 },
    };
    const geminis = [part({ text: 'Here "[{' }), drawn];
    const usage = { input_tokens: 1000, output_tokens: 500, total_tokens: 1500 };
    const counted = { usage: { inputTokens: 1000, outputTokens: 500 } };
    const call = { type: 'image_generation_call', status: 'completed', result: picture };
    const streams: [string, string, string, object][] = [
      [
        'openai',
        '/v1/images/generations',
        named({ type: 'image_generation.completed', b64_json: picture, usage } as never),
        { ...counted, units: { images: 1 } },
      ],
      [
        'openai',
        '/v1/responses',
        named({
          type: 'response.completed',
          response: { id: 'r', output: new Array(6).fill(call), usage },
        } as never),
        { ...counted, units: { imageGenerations: 6 } },
      ],
      [
        'google',
        '/v1beta/models/m:streamGenerateContent',
        geminis.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
        { ...counted, finishReason: 'STOP' },
      ],
    ];
    const inPieces = (text: string, push: (chunk: Buffer) => void) => {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 65_536) push(bytes.subarray(at, at + 65_536));
    };
    const readerAt = (id: string, path: string) => {
      const provider = findProvider(id)!;
      return { read: findPassThrough(provider, path)!.translation, context: contextFor(provider) };
    };

    it.each(streams)('tells beside its pictures what it used: %s %s', (id, path, text, told) => {
      const { read, context } = readerAt(id, path);
      const reader = read.openStream(context, {});
      inPieces(text, (chunk) => reader.push(chunk));
      reader.end();
      expect(reader.phase).toBe('complete');
      expect(reader.facts).toMatchObject(told);
    });

    it.each([0, 2])(
      'tells it also as a list of what are events elsewhere, indented by %i',
      (space) => {
        const { read, context } = readerAt('google', '/v1beta/models/m:streamGenerateContent');
        const text = `\n${JSON.stringify(geminis, null, space)}\r\n`;
        const list = read.openList!({})!;
        inPieces(text, (chunk) => list.push(chunk));
        list.end();
        const { facts } = read.decode(Buffer.from(text), context, okHead);
        for (const told of [list.facts, facts])
          expect(told).toMatchObject({ ...counted, finishReason: 'STOP' });
      },
    );
  });

  describe('at a path that nobody knows', () => {
    const read = (request: object, reply: object) =>
      passesUnknown('POST', request as never)?.translation.decode(
        Buffer.from(JSON.stringify(reply)),
        contextFor(findProvider('openai')!),
        okHead,
      ).facts;
    const prompt_tokens = 1000;
    const completion_tokens = 500;
    const chat = { usage: { prompt_tokens, completion_tokens, total_tokens: 1500 } };
    const both = { usage: { inputTokens: 1000, outputTokens: 500 } };
    const billed = { input_tokens: 900, output_tokens: 400 };
    const tokens = { input_tokens: 1000, output_tokens: 500 };
    const interaction = { usage: { total_input_tokens: 1000, total_output_tokens: 500 } };

    it.each([
      ['Mistral’s conversations', { model: 'm', inputs: 'Hi' }, chat, both],
      ['those of an agent', { agent_id: 'ag_1', inputs: [{ role: 'user' }] }, chat, both],
      ['what goes on in them', { inputs: 'And then?' }, chat, both],
      ['Google’s agents', { agent: 'deep-research', input: 'Hi' }, interaction, both],
      [
        'Cohere’s first version',
        { model: 'command-r', message: 'Hi' },
        { text: 'Hello', meta: { tokens, billed_units: billed } },
        { ...both, chargedTokens: { inputTokens: 900, outputTokens: 400 } },
      ],
      [
        'Voyage’s contextualised embeddings',
        { model: 'voyage-context-3', inputs: [['Hi']] },
        { data: [], usage: { total_tokens: 1000 } },
        { usage: { inputTokens: 1000, outputTokens: 0 } },
      ],
    ])('is charged as told: %s', (_, request, reply, told) => {
      expect(read(request, reply)).toMatchObject(told);
    });

    it.each([
      ['nothing', {}],
      ['what is said in an agent’s session, which tells all that was used in it', { events: [] }],
      ['what has an agent begun', { agent: 'a' }],
      ['what is changed', { metadata: {} }],
    ])('is charged nothing where no model is asked: %s', (_, request) => {
      expect(read(request, chat)).toBeUndefined();
    });
  });

  it('is read by the codec of a format that no caller speaks', () => {
    const oracle = findProvider('oracle')!;
    const read = findPassThrough(oracle, '/20231130/actions/chat')!.translation;
    const message = { role: 'ASSISTANT', content: [{ type: 'TEXT', text: 'Hello' }] };
    const chatResponse = {
      apiFormat: 'GENERIC',
      choices: [{ index: 0, message, finishReason: 'stop' }],
      usage: { promptTokens: 1000, completionTokens: 500, totalTokens: 1500 },
    };
    const bytes = Buffer.from(JSON.stringify({ modelId: 'm', chatResponse }));
    const { body, facts } = read.decode(bytes, contextFor(oracle), okHead);
    expect(body).toBeUndefined();
    expect(facts.usage).toMatchObject({ inputTokens: 1000, outputTokens: 500 });
    expect([read.mode, read.callerFormat]).toEqual(['native', 'oci-chat']);
  });
});
