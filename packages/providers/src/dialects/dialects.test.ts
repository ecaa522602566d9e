import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor, type Fixture, fixturesIn, okHead, pretty } from '../../test/fixtures.ts';
import { pathOf } from '../address.ts';
import type {
  BodyDialect,
  CallContext,
  EndpointChoice,
  EndpointEntry,
  JsonObject,
  ProviderEntry,
} from '../contract.ts';
import { findTranslation } from '../translation/find-translation.ts';
import * as audio from './audio/index.ts';
import * as embeddings from './embeddings/index.ts';
import * as images from './images/index.ts';
import * as models from './models/index.ts';
import * as ocr from './ocr/index.ts';
import * as rerank from './rerank/index.ts';

type Spoken = BodyDialect | EndpointEntry | EndpointChoice;

/** Folder → fixture prefix → what is tested with those fixtures. */
const groups: Record<string, { endpoint: Endpoint; dialects: Record<string, Spoken> }> = {
  rerank: {
    endpoint: 'rerank',
    dialects: {
      cohere: rerank.cohereRerank,
      azure: rerank.azureRerank,
      jina: rerank.jinaRerank,
      common: rerank.commonRerank,
      voyage: rerank.voyageRerank,
      pinecone: rerank.pineconeRerank,
    },
  },
  embeddings: {
    endpoint: 'embed',
    dialects: {
      cohere: embeddings.cohereEmbeddings,
      jina: embeddings.jinaEmbeddings,
      voyage: embeddings.voyageEmbeddings,
      nomic: embeddings.nomicEmbeddings,
      pinecone: embeddings.pineconeEmbeddings,
    },
  },
  images: {
    endpoint: 'imageGenerate',
    dialects: {
      'stability-v1': images.stabilityImages,
      'stability-v2': images.stabilityImages,
      segmind: images.segmindImages,
      hyperbolic: images.hyperbolicImages,
      'fireworks-flux': images.fireworksImages,
      fireworks: images.fireworksImages,
      siliconflow: images.siliconflowImages,
      together: images.togetherImages,
      fal: images.falImages,
    },
  },
  audio: {
    endpoint: 'createTranscription',
    dialects: {
      'deepgram-listen': audio.deepgramTranscription,
      'deepgram-speak': audio.deepgramSpeech,
      'elevenlabs-speech': audio.elevenLabsSpeech,
      'elevenlabs-transcription': audio.elevenLabsTranscription,
    },
  },
  ocr: { endpoint: 'ocr', dialects: { azure: ocr.azureOcr } },
  models: {
    endpoint: 'listModels',
    dialects: {
      anthropic: models.anthropicModels,
      cohere: models.cohereModels,
      'workers-ai': models.workersAiModels,
      bare: models.bareModels,
      elevenlabs: models.elevenLabsModels,
      deepgram: models.deepgramModels,
      pinecone: models.pineconeModels,
      stability: models.stabilityModels,
    },
  },
};

/** What the caller of an audio fixture sent beside its fields. */
const form = [
  { name: 'file', filename: 'a "b".mp3', contentType: 'audio/mpeg', data: Buffer.from('ID3…') },
];

for (const [folder, { endpoint, dialects }] of Object.entries(groups)) {
  const at = join(import.meta.dirname, folder, 'fixtures');

  /** The fixture's call: as if a provider of that name offered nothing else. */
  const callOf = (name: string, request: JsonObject) => {
    const vendor = name.split('.')[0] ?? '';
    const spoken = dialects[vendor];
    if (spoken === undefined) throw new Error(`${folder} has no dialect ${vendor}`);
    const entry: EndpointEntry | EndpointChoice =
      'decode' in spoken ? { format: `${vendor}/x`, path: '/x', dialect: spoken } : spoken;
    const provider: ProviderEntry = {
      id: vendor,
      name: vendor,
      baseUrl: 'https://vendor.test',
      auth: { type: 'none' },
      endpoints: { [endpoint]: entry },
      source: 'test',
    };
    const context: CallContext = contextFor(provider, true, {
      model: typeof request.model === 'string' ? request.model : '',
      request,
      form,
    });
    return { call: findTranslation(provider, endpoint, context), context };
  };

  /** The request that a reply answers, where there is one of the same name. */
  const requestOf = ({ name }: Fixture): JsonObject => {
    try {
      return JSON.parse(readFileSync(join(at, `${name}.request.json`), 'utf8'));
    } catch {
      // Most replies do not depend on it.
      return { model: 'asked-model' };
    }
  };

  describe(folder, () => {
    for (const example of fixturesIn(at, 'request'))
      it(`asks: ${example.name}`, async () => {
        const request = example.json();
        const before = structuredClone(request);
        const { call, context } = callOf(example.name, request);
        const { body, bytes, dropped, headers } = call.encode(request, context);
        expect(request).toEqual(before);
        const told = {
          path: pathOf(call.entry, context),
          body,
          bytes: bytes === undefined ? undefined : { ...bytes, data: bytes.data.toString('utf8') },
          dropped,
          headers,
        };
        await expect(pretty(told)).toMatchFileSnapshot(example.golden('golden.json'));
      });

    for (const example of fixturesIn(at, 'response'))
      it(`answers: ${example.name}`, async () => {
        const { call, context } = callOf(example.name, requestOf(example));
        let told: unknown;
        try {
          const { body, contentType, facts } = call.decode(example.bytes, context, okHead);
          const text = body?.toString('utf8');
          told = { body: text === undefined ? undefined : jsonOr(text), contentType, facts };
        } catch (error) {
          told = { refused: (error as { code: string }).code };
        }
        await expect(pretty(told)).toMatchFileSnapshot(example.golden('golden.json'));
      });

    for (const example of fixturesIn(at, 'error'))
      it(`refuses: ${example.name}`, async () => {
        const status = Number(example.name.split('.').at(-1));
        const { call, context } = callOf(example.name, {});
        const { body } = call.decodeError(status, example.bytes, context);
        await expect(pretty(jsonOr(String(body)))).toMatchFileSnapshot(
          example.golden('golden.json'),
        );
      });

    it('never takes garbage for a reply', () => {
      for (const garbage of [
        '',
        'null',
        '"x"',
        '[1,2]',
        '{}',
        '{"data":1}',
        '\u0000',
        '{"results":[1]}',
      ])
        for (const [vendor, spoken] of Object.entries(dialects)) {
          // Sound is whatever it is.
          if (spoken === audio.deepgramSpeech || spoken === audio.elevenLabsSpeech) continue;
          const { call, context } = callOf(vendor, { model: 'm' });
          let outcome = 'taken';
          try {
            call.decode(Buffer.from(garbage), context, okHead);
          } catch (error) {
            outcome = (error as { code: string }).code;
          }
          // A list of models may hold nothing that is one.
          if (outcome === 'taken') expect([folder, garbage]).toEqual(['models', '[1,2]']);
          else expect(outcome).toBe('upstream.invalid_response');
        }
    });
  });
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
