import type {
  BodyDialect,
  CallContext,
  DecodedReply,
  JsonObject,
  ReplyHead,
} from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { numberOf, objectOf, parseObject, stringOf } from '../../json/json-access.ts';

/** Fields of OpenAI's that no model here knows; all others are the models' own. */
const unknown = ['quality', 'style', 'user', 'background', 'moderation', 'output_format'];

/** Pictures of Workers AI: https://developers.cloudflare.com/workers-ai/models, one each. */
export const images: BodyDialect = {
  encode: (body) => {
    const { model: _model, n, size, steps, response_format: format, ...rest } = body;
    if (stringOf(body.prompt) === undefined) throw invalidField('prompt', 'must be a string');
    if ((numberOf(n) ?? 1) > 1)
      throw invalidField('n', 'must be 1: this provider makes one picture per request');
    const dropped = unknown.filter((name) => rest[name] !== undefined);
    for (const name of dropped) delete rest[name];
    // Pictures come as bytes, never as addresses.
    if (format === 'url') dropped.push('response_format');
    // Models differ in what they call their steps.
    const counted: JsonObject = steps === undefined ? {} : { steps, num_steps: steps };
    return { body: { ...rest, ...sizeOf(stringOf(size)), ...counted }, dropped };
  },
  decode,
};

function sizeOf(size: string | undefined): JsonObject {
  if (size === undefined || size === 'auto') return {};
  const match = /^(\d{1,5})x(\d{1,5})$/.exec(size);
  if (match === null) throw invalidField('size', 'must be width and height, as in 1024x1024');
  return { width: Number(match[1]), height: Number(match[2]) };
}

/** Some models answer the picture itself, others JSON with it. */
function decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply | undefined {
  const type = String(head.headers['content-type'] ?? '');
  const image = type.startsWith('image/') ? bytes.toString('base64') : imageOf(bytes);
  if (image === undefined || image === '') return undefined;
  const body = { created: Math.floor(context.nowMs / 1000), data: [{ b64_json: image }] };
  return { body: Buffer.from(JSON.stringify(body)), facts: { units: { images: 1 } } };
}

function imageOf(bytes: Buffer): string | undefined {
  return stringOf(objectOf(parseObject(bytes.toString('utf8'))?.result)?.image);
}
