import type { JsonObject } from '@sluice/contracts';
import { modelSegment } from '../../address.ts';
import type { BodyDialect, EndpointChoice, EndpointEntry } from '../../contract.ts';
import { arrayOf, compact, objectOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { allImages, encodeImages, imageItem } from './reply.ts';
import { droppedFormat, nearestRatio, openAiOnly, promptOf, sizeOf } from './request.ts';

const ratios = ['21:9', '16:9', '3:2', '5:4', '4:3', '1:1', '3:4', '4:5', '2:3', '9:16', '9:21'];

/** FLUX models are workflows: a ratio in place of a size, one image at a time. */
const workflow: BodyDialect = jsonDialect({
  encode(body) {
    promptOf(body);
    const shaped = reshape(body, {
      rename: { steps: 'num_inference_steps' },
      drop: openAiOnly,
      used: ['model', 'size', 'n', 'response_format'],
    });
    const size = sizeOf(body);
    const encoded = shaped.body;
    if (size !== undefined) encoded.aspect_ratio ??= nearestRatio(size, ratios);
    const onlyOne = typeof body.n === 'number' && body.n > 1 ? ['n'] : [];
    return {
      body: encoded,
      dropped: [...shaped.dropped, ...onlyOne, ...droppedFormat(body, 'b64_json')],
      headers: { accept: 'application/json' },
    };
  },
  decode(reply, context) {
    const list = arrayOf(objectOf(reply)?.base64) ?? [];
    const images = allImages(list.map((base64) => imageItem({ base64 })));
    return images === undefined ? undefined : encodeImages(images, context);
  },
});

/** The older models: pixels and samples, a list out. */
const generation: BodyDialect = jsonDialect({
  encode(body) {
    promptOf(body);
    const shaped = reshape(body, {
      rename: { n: 'samples' },
      drop: openAiOnly,
      used: ['model', 'size', 'response_format'],
    });
    return {
      body: { ...shaped.body, ...sizeOf(body) },
      dropped: [...shaped.dropped, ...droppedFormat(body, 'b64_json')],
      headers: { accept: 'application/json' },
    };
  },
  decode(reply, context) {
    const items = arrayOf(reply)?.map((value) => {
      const item = objectOf(value);
      const more = compact<JsonObject>({
        finish_reason: item?.finishReason as string,
        seed: item?.seed as number,
      });
      return imageItem({ base64: item?.base64 }, more);
    });
    const images = allImages(items ?? []);
    return images === undefined ? undefined : encodeImages(images, context);
  },
});

const flux: EndpointEntry = {
  format: 'fireworks/workflow-images',
  path: ({ model }) => `/workflows/${modelNamePath(model)}/text_to_image`,
  dialect: workflow,
};

const older: EndpointEntry = {
  format: 'fireworks/images',
  path: ({ model }) => `/image_generation/${modelNamePath(model)}`,
  dialect: generation,
};

/** Both spellings of a name are taken: the whole one, and its last part. */
function modelNamePath(model: string): string {
  const name = model.replace(/^accounts\/fireworks\/models\//, '');
  if (!name.startsWith('accounts/')) return `accounts/fireworks/models/${modelSegment(name)}`;
  return name.split('/').map(modelSegment).join('/');
}

/** https://docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt */
export const fireworksImages: EndpointChoice = {
  choose: ({ model }) => (/(?:^|\/)flux-/.test(model) ? flux : older),
  all: [flux, older],
};
