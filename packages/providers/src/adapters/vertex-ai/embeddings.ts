import type { JsonObject, JsonValue } from '@sluice/contracts';
import { publisherPath, vertexModel } from '../../addresses/vertex-ai.ts';
import { embeddingsReply, readInputs } from '../../codecs/openai-embeddings/index.ts';
import type { BodyDialect, EndpointChoice, EndpointEntry } from '../../contract.ts';
import { googleTokens, googleVectors } from '../../dialects/embeddings/google.ts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  countOf,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';
import { multimodalEmbeddings } from './multimodal-embeddings.ts';

const fields = new Set(['task_type', 'title', 'parameters', 'auto_truncate']);

/**
 * Text embeddings by `:predict`.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
 */
const textEmbeddings: BodyDialect = {
  encode(body) {
    const { inputs, dropped } = readInputs(body, fields);
    const instances = inputs.map((content) => {
      const instance: JsonObject = { content };
      const task = stringOf(body.task_type);
      const title = stringOf(body.title);
      if (task !== undefined) instance.task_type = task;
      if (title !== undefined) instance.title = title;
      return instance;
    });
    const parameters = { ...objectOf(body.parameters) };
    const dimensions = numberOf(body.dimensions);
    if (dimensions !== undefined) parameters.outputDimensionality = dimensions;
    if (typeof body.auto_truncate === 'boolean') parameters.autoTruncate = body.auto_truncate;
    const encoded: JsonObject = { instances };
    if (Object.keys(parameters).length > 0) encoded.parameters = parameters;
    return { body: encoded, dropped };
  },

  decode(bytes, context) {
    const predictions = arrayOf(parseObject(bytes.toString('utf8'))?.predictions);
    if (predictions === undefined) return undefined;
    const found = predictions.map((value) => objectOf(objectOf(value)?.embeddings));
    if (found.includes(undefined)) return undefined;
    let tokens: number | undefined;
    for (const embedding of found) {
      const count = objectOf(embedding?.statistics)?.token_count;
      if (count !== undefined) tokens = (tokens ?? 0) + countOf(count);
    }
    const vectors = found.map((embedding) => arrayOf(embedding?.values) ?? []);
    return embeddingsReply(vectors, tokens, context);
  },
};

/** Newer models by `:embedContent`, one content at a time. */
const contentEmbeddings: BodyDialect = {
  encode(body) {
    const { inputs, dropped } = readInputs(body, fields);
    // One vector for several inputs would be a silent lie.
    if (inputs.length > 1)
      throw invalidField('input', 'must be one text: this model embeds one at a time');
    const options: JsonObject = { ...objectOf(body.parameters) };
    const task = stringOf(body.task_type);
    const title = stringOf(body.title);
    const dimensions = numberOf(body.dimensions);
    if (task !== undefined) options.taskType = task;
    if (title !== undefined) options.title = title;
    if (dimensions !== undefined) options.outputDimensionality = dimensions;
    if (typeof body.auto_truncate === 'boolean') options.autoTruncate = body.auto_truncate;
    const encoded: JsonObject = { content: { parts: [{ text: inputs[0] as JsonValue }] } };
    if (Object.keys(options).length > 0) encoded.embedContentConfig = options;
    return { body: encoded, dropped };
  },

  decode(bytes, context) {
    const body = parseObject(bytes.toString('utf8'));
    const vectors = body && googleVectors(body);
    if (body === undefined || vectors === undefined) return undefined;
    return embeddingsReply(vectors, googleTokens(body), context);
  },
};

const predictText: EndpointEntry = {
  format: 'vertex-ai/embeddings',
  path: (facts) => publisherPath(facts, 'predict'),
  dialect: textEmbeddings,
};

const predictMultimodal: EndpointEntry = {
  format: 'vertex-ai/multimodal-embeddings',
  path: (facts) => publisherPath(facts, 'predict'),
  dialect: multimodalEmbeddings,
};

const embedContent: EndpointEntry = {
  format: 'vertex-ai/content-embeddings',
  path: (facts) => publisherPath(facts, 'embedContent'),
  dialect: contentEmbeddings,
};

/** Which of the three a model wants, by how its name begins. */
const table: readonly (readonly [prefix: string, entry: EndpointEntry])[] = [
  ['multimodalembedding', predictMultimodal],
  ['gemini-embedding-001', predictText],
  ['gemini-', embedContent],
  ['', predictText],
];

export const embed: EndpointChoice = {
  choose({ model }) {
    const { publisher, name } = vertexModel(model);
    if (publisher !== 'google') return undefined;
    return table.find(([prefix]) => name.startsWith(prefix))?.[1];
  },
  all: [predictText, predictMultimodal, embedContent],
};
