/** Embeddings through InvokeModel: OpenAI's format ↔ each family's own. */

import type { JsonObject, JsonValue } from '@sluice/contracts';
import { shownCount } from '../../bills/shown-usage.ts';
import { usageOf } from '../../codecs/bedrock-invoke/facts.ts';
import type {
  BodyDialect,
  CallContext,
  DecodedReply,
  EncodedRequest,
  ReplyHead,
} from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  booleanOf,
  compact,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';
import { droppedBeside } from './dropped-fields.ts';

/** One thing to embed: a text, or an image as a data URL or base64. */
export interface EmbeddingInput {
  text?: string;
  image?: string;
}

/** The inputs in order. @throws GatewayError for lists of tokens, which only OpenAI's models read */
export function inputsOf(body: JsonObject): EmbeddingInput[] {
  const { input } = body;
  if (typeof input === 'string') return [{ text: input }];
  const list = arrayOf(input) ?? (objectOf(input) === undefined ? undefined : [input as JsonValue]);
  if (list === undefined || list.length === 0)
    throw invalidField('input', 'must be a text or a list of texts');
  return list.map((entry, index) => inputOf(entry, `input[${index}]`));
}

function inputOf(entry: JsonValue, path: string): EmbeddingInput {
  if (typeof entry === 'string') return { text: entry };
  const object = objectOf(entry);
  const text = stringOf(object?.text);
  const image = stringOf(objectOf(object?.image)?.base64) ?? stringOf(object?.image);
  if (text === undefined && image === undefined)
    throw invalidField(path, 'must be a text, or an object with text or image');
  return compact({ text, image } as EmbeddingInput);
}

/** For models that embed one thing a call: several are the caller's to send apart. */
export function onlyInput(body: JsonObject): EmbeddingInput {
  const inputs = inputsOf(body);
  if (inputs.length > 1)
    throw invalidField(
      'input',
      `has ${inputs.length} entries, and this model embeds one input a request: send them one by one`,
    );
  return inputs[0] as EmbeddingInput;
}

/** The data alone, where an image came as a data URL. */
export function base64Of(image: string): string {
  return image.startsWith('data:') ? image.slice(image.indexOf(',') + 1) : image;
}

/** OpenAI's list of vectors. */
export function embeddingsReply(
  vectors: JsonValue[],
  context: CallContext,
  head: ReplyHead,
  inputTokens?: unknown,
): DecodedReply {
  const usage = usageOf(head, { input: inputTokens });
  const counted = shownCount(usage.inputTokens);
  const asBase64 = context.request.encoding_format === 'base64';
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: asBase64 ? float32Base64(vector) : vector,
  }));
  const body = {
    object: 'list',
    data,
    model: context.model,
    provider: context.provider.id,
    usage: { prompt_tokens: counted, total_tokens: counted },
  };
  return { body: Buffer.from(JSON.stringify(body)), facts: { model: context.model, usage } };
}

/** What OpenAI's clients ask for by default: little-endian floats. */
function float32Base64(vector: JsonValue): JsonValue {
  const numbers = arrayOf(vector);
  if (numbers?.every((entry) => typeof entry === 'number') !== true) return vector;
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, value] of numbers.entries()) bytes.writeFloatLE(value as number, index * 4);
  return bytes.toString('base64');
}

const common = ['model', 'input', 'encoding_format', 'user'];

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
export const titanText: BodyDialect = {
  encode(body, context): EncodedRequest {
    const { text, image } = onlyInput(body);
    if (text === undefined || image !== undefined)
      throw invalidField('input', 'must be a text: this model embeds nothing else');
    // The first generation knows the text alone.
    const isFirst = /titan-embed-(?:g1|text-v1)/.test(context.model);
    const options: JsonObject = isFirst
      ? {}
      : (compact({
          dimensions: numberOf(body.dimensions),
          normalize: booleanOf(body.normalize),
          embeddingTypes: arrayOf(body.embedding_types) ?? arrayOf(body.embeddingTypes),
        }) as JsonObject);
    const known = isFirst
      ? common
      : [...common, 'dimensions', 'normalize', 'embedding_types', 'embeddingTypes'];
    return { body: { inputText: text, ...options }, dropped: droppedBeside(body, known) };
  },
  decode(bytes, context, head) {
    const body = parseObject(bytes.toString('utf8'));
    const vector = arrayOf(body?.embedding) ?? binaryOf(body);
    if (vector === undefined) return undefined;
    return embeddingsReply([vector], context, head, body?.inputTextTokenCount);
  },
};

function binaryOf(body: JsonObject | undefined): JsonValue[] | undefined {
  return arrayOf(objectOf(body?.embeddingsByType)?.binary);
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-mm.html */
export const titanImage: BodyDialect = {
  encode(body): EncodedRequest {
    const { text, image } = onlyInput(body);
    const length = numberOf(body.dimensions);
    return {
      body: compact({
        inputText: text,
        inputImage: image === undefined ? undefined : base64Of(image),
        embeddingConfig: length === undefined ? undefined : { outputEmbeddingLength: length },
      }) as JsonObject,
      dropped: droppedBeside(body, [...common, 'dimensions']),
    };
  },
  decode: titanText.decode,
};

/** https://docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html */
export const nova: BodyDialect = {
  encode(body): EncodedRequest {
    const { text, image } = onlyInput(body);
    if (text !== undefined && image !== undefined)
      throw invalidField('input', 'must be a text or an image, not both');
    const params = compact({
      embeddingPurpose: stringOf(body.embedding_purpose) ?? 'GENERIC_INDEX',
      embeddingDimension: numberOf(body.dimensions),
      text:
        text === undefined
          ? undefined
          : { truncationMode: stringOf(body.truncate) ?? 'END', value: text },
      image:
        image === undefined
          ? undefined
          : { format: imageFormat(image), source: { bytes: base64Of(image) } },
    });
    return {
      body: { taskType: 'SINGLE_EMBEDDING', singleEmbeddingParams: params as JsonObject },
      dropped: droppedBeside(body, [...common, 'dimensions', 'embedding_purpose', 'truncate']),
    };
  },
  decode(bytes, context, head) {
    const body = parseObject(bytes.toString('utf8'));
    const vectors = (arrayOf(body?.embeddings) ?? []).map((entry) =>
      arrayOf(objectOf(entry)?.embedding),
    );
    if (vectors.length === 0 || vectors.includes(undefined)) return undefined;
    return embeddingsReply(vectors as JsonValue[], context, head);
  },
};

/** The type a data URL names; bare base64 is told by its first bytes. */
function imageFormat(image: string): string {
  const named = /^data:image\/([a-z]+)/i.exec(image)?.[1]?.toLowerCase();
  if (named !== undefined) return named === 'jpg' ? 'jpeg' : named;
  if (image.startsWith('/9j/')) return 'jpeg';
  if (image.startsWith('R0lGOD')) return 'gif';
  return image.startsWith('UklGR') ? 'webp' : 'png';
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html */
export const cohere: BodyDialect = {
  encode(body): EncodedRequest {
    const inputs = inputsOf(body);
    const texts = inputs.flatMap((input) => input.text ?? []);
    const images = inputs.flatMap((input) => input.image ?? []);
    return {
      body: compact({
        texts: texts.length === 0 ? undefined : texts,
        images: images.length === 0 ? undefined : images,
        input_type: stringOf(body.input_type) ?? (texts.length === 0 ? 'image' : 'search_document'),
        truncate: stringOf(body.truncate),
        embedding_types: arrayOf(body.embedding_types),
        output_dimension: numberOf(body.dimensions),
      }) as JsonObject,
      dropped: droppedBeside(body, [
        ...common,
        'input_type',
        'truncate',
        'embedding_types',
        'dimensions',
      ]),
    };
  },
  decode(bytes, context, head) {
    const found = parseObject(bytes.toString('utf8'))?.embeddings;
    // A list, or lists by type where types were asked for; the first asked for is told.
    const asked = stringOf(arrayOf(context.request.embedding_types)?.[0]);
    const byType = objectOf(found);
    const vectors = arrayOf(found) ?? arrayOf(byType?.[asked ?? 'float']) ?? arrayOf(byType?.float);
    return vectors === undefined ? undefined : embeddingsReply(vectors, context, head);
  },
};
