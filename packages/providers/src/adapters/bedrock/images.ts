/** Images through InvokeModel: OpenAI's generations ↔ each family's own. */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { BodyDialect, CallContext, DecodedReply } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';
import { droppedBeside } from './dropped-fields.ts';

const common = ['model', 'prompt', 'response_format', 'user'];

/** These models answer with the data: there is no address to give. */
function promptOf(body: JsonObject): string {
  const prompt = stringOf(body.prompt);
  if (prompt === undefined) throw invalidField('prompt', 'must be a text');
  return prompt;
}

function sizeOf(body: JsonObject): { width: number; height: number } | undefined {
  const size = stringOf(body.size);
  if (size === undefined || size === 'auto') return undefined;
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? [];
  if (width === undefined || height === undefined)
    throw invalidField('size', 'must be a width and a height, e.g. 1024x1024');
  return { width: Number(width), height: Number(height) };
}

function imagesReply(images: JsonValue[], context: CallContext): DecodedReply | undefined {
  const data = images.flatMap((image) => (typeof image === 'string' ? [{ b64_json: image }] : []));
  if (data.length === 0) return undefined;
  const body = {
    created: Math.floor(context.nowMs / 1000),
    data,
    provider: context.provider.id,
  };
  return {
    body: Buffer.from(JSON.stringify(body)),
    facts: { model: context.model, units: { images: data.length } },
  };
}

/** Titan and Nova Canvas. https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html */
export const canvas: BodyDialect = {
  encode(body) {
    const quality = stringOf(body.quality);
    const config = compact({
      ...sizeOf(body),
      numberOfImages: numberOf(body.n),
      quality: quality === undefined || quality === 'auto' ? undefined : qualityOf(quality),
      seed: numberOf(body.seed),
      cfgScale: numberOf(body.cfg_scale),
    });
    const params = compact({
      text: promptOf(body),
      negativeText: stringOf(body.negative_prompt),
      style: /^[A-Z_]+$/.test(stringOf(body.style) ?? '') ? body.style : undefined,
    });
    const known = [...common, 'size', 'n', 'quality', 'seed', 'cfg_scale', 'negative_prompt'];
    if (params.style !== undefined) known.push('style');
    return {
      body: {
        taskType: 'TEXT_IMAGE',
        textToImageParams: params as JsonObject,
        ...(Object.keys(config).length === 0
          ? {}
          : { imageGenerationConfig: config as JsonObject }),
      },
      dropped: droppedBeside(body, known),
    };
  },
  decode(bytes, context) {
    return imagesReply(arrayOf(parseObject(bytes.toString('utf8'))?.images) ?? [], context);
  },
};

function qualityOf(quality: string): string {
  return quality === 'hd' || quality === 'high' || quality === 'premium' ? 'premium' : 'standard';
}

/** Stable Diffusion XL. https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-diffusion-1-0-text-image.html */
export const stabilityV1: BodyDialect = {
  encode(body) {
    return {
      body: compact({
        text_prompts: [{ text: promptOf(body), weight: 1 }],
        ...sizeOf(body),
        samples: numberOf(body.n),
        seed: numberOf(body.seed),
        steps: numberOf(body.steps),
        cfg_scale: numberOf(body.cfg_scale),
        style_preset: stringOf(body.style_preset) ?? stringOf(body.style),
      }) as JsonObject,
      dropped: droppedBeside(body, [
        ...common,
        'size',
        'n',
        'seed',
        'steps',
        'cfg_scale',
        'style_preset',
        'style',
      ]),
    };
  },
  decode(bytes, context) {
    const artifacts = arrayOf(parseObject(bytes.toString('utf8'))?.artifacts) ?? [];
    return imagesReply(
      artifacts.map((artifact) => objectOf(artifact)?.base64 ?? null),
      context,
    );
  },
};

/** Ratios that the newer models offer, by what width divided by height comes nearest to. */
const ratios = ['16:9', '1:1', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'];

const v2Fields = [
  'negative_prompt',
  'aspect_ratio',
  'seed',
  'mode',
  'image',
  'strength',
  'output_format',
];

/** Stable Image and SD3. https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-stability-diffusion.html */
export const stabilityV2: BodyDialect = {
  encode(body) {
    if ((numberOf(body.n) ?? 1) > 1)
      throw invalidField('n', 'must be 1: this model makes one image a request');
    const size = sizeOf(body);
    const target: JsonObject = { prompt: promptOf(body) };
    if (size !== undefined && body.image === undefined) target.aspect_ratio = nearestRatio(size);
    for (const key of v2Fields) if (body[key] !== undefined) target[key] = body[key] as JsonValue;
    return { body: target, dropped: droppedBeside(body, [...common, 'n', 'size', ...v2Fields]) };
  },
  decode(bytes, context) {
    return imagesReply(arrayOf(parseObject(bytes.toString('utf8'))?.images) ?? [], context);
  },
};

function nearestRatio({ width, height }: { width: number; height: number }): string {
  const distance = (ratio: string): number => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log((width * down) / (height * across)));
  };
  return ratios.toSorted((a, b) => distance(a) - distance(b))[0] as string;
}
