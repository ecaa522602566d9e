import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { BodyDialect } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';

/**
 * Vectors of texts, images and videos that can be compared with each other. An
 * input is a text or `{text, image, video}`; images and videos are
 * `{url}` (of Google's storage) or `{base64}`.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/multimodal-embeddings-api
 */
export const multimodalEmbeddings: BodyDialect = {
  encode(body) {
    const inputs = arrayOf(body.input) ?? (body.input === undefined ? [] : [body.input]);
    if (inputs.length === 0) throw invalidField('input', 'must be an input or a list of them');
    const instances = inputs.map((input, index) => encodeInput(input, `input[${index}]`));
    const parameters = { ...objectOf(body.parameters) };
    const dimension = numberOf(body.dimensions);
    if (dimension !== undefined) parameters.dimension = dimension;
    const encoded: JsonObject = { instances };
    if (Object.keys(parameters).length > 0) encoded.parameters = parameters;
    const dropped = Object.keys(body).filter((key) => !knownMembers.has(key));
    return { body: encoded, dropped };
  },

  decode(bytes, context) {
    const predictions = arrayOf(parseObject(bytes.toString('utf8'))?.predictions);
    if (predictions === undefined) return undefined;
    const body = {
      object: 'list',
      data: predictions.map((value, index) => encodeVectors(objectOf(value) ?? {}, index)),
      model: context.model,
      usage: { prompt_tokens: 0, total_tokens: 0 },
      provider: context.provider.id,
    };
    return { body: Buffer.from(JSON.stringify(body)), facts: { model: context.model } };
  },
};

const knownMembers = new Set(['model', 'input', 'dimensions', 'parameters', 'encoding_format']);

function encodeInput(input: JsonValue, path: string): JsonObject {
  if (typeof input === 'string') return { text: input };
  const object = objectOf(input);
  if (object === undefined) throw invalidField(path, 'must be a text or an object');
  const video = objectOf(object.video);
  const instance: JsonObject = compact({
    text: stringOf(object.text),
    image: source(objectOf(object.image)),
    video: source(video),
  }) as JsonObject;
  if (Object.keys(instance).length === 0)
    throw invalidField(path, 'needs a text, an image or a video');
  const segment = video === undefined ? undefined : videoSegment(video);
  if (segment !== undefined)
    instance.video = { ...objectOf(instance.video), videoSegmentConfig: segment };
  return instance;
}

/** Fields in the vendor's own words pass as they are. */
function source(media: JsonObject | undefined): JsonObject | undefined {
  if (media === undefined) return undefined;
  const gcsUri = stringOf(media.gcsUri) ?? stringOf(media.url);
  const bytes = stringOf(media.bytesBase64Encoded) ?? stringOf(media.base64);
  return compact({
    gcsUri: bytes === undefined ? gcsUri : undefined,
    bytesBase64Encoded: bytes,
    mimeType: stringOf(media.mimeType) ?? stringOf(media.mime_type),
  }) as JsonObject;
}

function videoSegment(video: JsonObject): JsonObject | undefined {
  const segment = compact({
    startOffsetSec: numberOf(video.start_offset),
    endOffsetSec: numberOf(video.end_offset),
    intervalSec: numberOf(video.interval),
  });
  return Object.keys(segment).length === 0
    ? objectOf(video.videoSegmentConfig)
    : (segment as JsonObject);
}

function encodeVectors(prediction: JsonObject, index: number): JsonObject {
  return compact({
    object: 'embedding',
    index,
    embedding: arrayOf(prediction.textEmbedding) ?? arrayOf(prediction.imageEmbedding) ?? [],
    image_embedding: arrayOf(prediction.imageEmbedding),
    video_embeddings: arrayOf(prediction.videoEmbeddings),
  }) as JsonObject;
}
