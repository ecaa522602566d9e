import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { modelSegment } from '../../address.ts';
import type { BodyDialect, EndpointEntry } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { multipartBytes, type OutgoingPart } from '../multipart.ts';
import { reshape } from '../reshape.ts';
import { allImages, encodeImages, imageItem } from './reply.ts';
import { droppedFormat, nearestRatio, openAiOnly, promptOf, sizeOf } from './request.ts';

/** https://platform.stability.ai/docs/api-reference: the first version, of the older models. */
export const stabilityV1Images: BodyDialect = jsonDialect({
  encode(body) {
    const { negative_prompt: negative } = body;
    const shaped = reshape(body, {
      rename: { n: 'samples', style: 'style_preset' },
      drop: openAiOnly,
      used: ['model', 'prompt', 'negative_prompt', 'size', 'response_format', 'output_format'],
    });
    const prompts: JsonObject[] = [{ text: promptOf(body), weight: 1 }];
    if (typeof negative === 'string') prompts.push({ text: negative, weight: -1 });
    return {
      body: { ...shaped.body, text_prompts: prompts, ...sizeOf(body) },
      dropped: [...shaped.dropped, ...droppedFormat(body, 'b64_json')],
      headers: { accept: 'application/json' },
    };
  },
  decode(reply, context) {
    const artifacts = arrayOf(objectOf(reply)?.artifacts)?.map((value) => {
      const artifact = objectOf(value);
      return imageItem(
        { base64: artifact?.base64 },
        compact<JsonObject>({
          finish_reason: artifact?.finishReason as string,
          seed: artifact?.seed as number,
        }),
      );
    });
    const images = allImages(artifacts ?? []);
    return images === undefined ? undefined : encodeImages(images, context);
  },
});

/** All ratios that the second version draws. */
const ratios = ['21:9', '16:9', '3:2', '5:4', '1:1', '4:5', '2:3', '9:16', '9:21'];

/** The second version: a form in, one image out. */
export const stabilityV2Images: BodyDialect = {
  encode(body, context) {
    const shaped = reshape(body, {
      rename: { style: 'style_preset' },
      drop: openAiOnly,
      used: ['model', 'size', 'response_format', 'image', 'n'],
    });
    const size = sizeOf(body);
    const fields: JsonObject = { ...shaped.body, prompt: promptOf(body) };
    if (size !== undefined) fields.aspect_ratio ??= nearestRatio(size, ratios);
    // Of a family that shares one address, the form says which is meant.
    if (/^sd3/.test(context.model)) fields.model ??= context.model;
    const parts: OutgoingPart[] = Object.entries(fields).map(([name, value]) => ({
      name,
      data: typeof value === 'string' ? value : JSON.stringify(value),
    }));
    if (body.image !== undefined && body.image !== null) parts.push(imagePart(body.image));
    const onlyOne = typeof body.n === 'number' && body.n > 1 ? ['n'] : [];
    return {
      body: undefined,
      bytes: multipartBytes(parts),
      dropped: [...shaped.dropped, ...onlyOne, ...droppedFormat(body, 'b64_json')],
      headers: { accept: 'application/json' },
    };
  },
  decode: jsonDialect({
    encode: () => ({ body: undefined, dropped: [] }),
    decode(reply, context) {
      const body = objectOf(reply);
      // The image is there, but blurred: nothing a caller could use.
      if (body?.finish_reason === 'CONTENT_FILTERED')
        throw new GatewayError('upstream.error', {
          status: 400,
          type: 'content_filter',
          message: `${context.provider.id} error: the image was filtered.`,
        });
      const image = imageItem(
        { base64: body?.image },
        compact<JsonObject>({ seed: body?.seed as number }),
      );
      return image === undefined ? undefined : encodeImages([image], context);
    },
  }).decode,
};

/** @throws GatewayError `request.invalid_field` for what is not a data URI */
function imagePart(image: unknown): OutgoingPart {
  const match = /^data:(image\/[a-z0-9.+-]+);base64,(.+)$/is.exec(stringOf(image) ?? '');
  if (match === null) throw invalidField('image', 'must be a data URI with base64');
  const [, contentType = '', base64 = ''] = match;
  return {
    name: 'image',
    filename: 'image',
    contentType,
    data: Buffer.from(base64, 'base64'),
  };
}

const v1: EndpointEntry = {
  format: 'stability/v1-images',
  path: ({ model }) => `/v1/generation/${modelSegment(model)}/text-to-image`,
  dialect: stabilityV1Images,
};

const v2: EndpointEntry = {
  format: 'stability/v2-images',
  path: ({ model }) => `/v2beta/stable-image/generate/${modelSegment(familyOf(model))}`,
  dialect: stabilityV2Images,
};

function familyOf(model: string): string {
  if (/^sd3/.test(model)) return 'sd3';
  return model.replace(/^stable-image-/, '');
}

const v1Models: ReadonlySet<string> = new Set([
  'stable-diffusion-xl-1024-v1-0',
  'stable-diffusion-v1-6',
]);

/** Which of its two versions a model is served by. */
export const stabilityImages = {
  choose: ({ model }: { model: string }) => (v1Models.has(model) ? v1 : v2),
  all: [v1, v2],
};
