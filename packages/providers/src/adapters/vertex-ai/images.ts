import type { JsonObject } from '@sluice/contracts';
import { publisherPath } from '../../addresses/vertex-ai.ts';
import type { BodyDialect, EndpointEntry } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  compact,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';

const imagesMax = 8;

/** Parameters that pass under the vendor's own names. */
const passed = [
  'aspectRatio',
  'seed',
  'negativePrompt',
  'personGeneration',
  'safetySetting',
  'addWatermark',
  'enhancePrompt',
  'language',
  'sampleImageSize',
  'storageUri',
] as const;

const knownMembers = new Set<string>([
  ...passed,
  'model',
  'prompt',
  'n',
  'quality',
  'style',
  'mimeType',
  'response_format',
]);

const compressions = new Map([
  ['hd', 100],
  ['standard', 75],
]);

/**
 * Imagen. Pictures come in base64 only.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api
 */
const imagen: BodyDialect = {
  encode(body) {
    const prompt = stringOf(body.prompt);
    if (prompt === undefined) throw invalidField('prompt', 'must be a text');
    const count = numberOf(body.n);
    const parameters: JsonObject = {};
    for (const name of passed) {
      const value = body[name];
      if (value !== undefined && value !== null) parameters[name] = value;
    }
    if (count !== undefined) parameters.sampleCount = Math.min(imagesMax, Math.max(1, count));
    const style = stringOf(body.style);
    if (style !== undefined) parameters.sampleImageStyle = style;
    const output = compact({
      compressionQuality: numberOf(body.quality) ?? compressions.get(String(body.quality)),
      mimeType: stringOf(body.mimeType),
    });
    if (Object.keys(output).length > 0) parameters.outputOptions = output as JsonObject;
    parameters.includeRaiReason = true;
    const dropped = Object.keys(body).filter((key) => !knownMembers.has(key));
    if (body.response_format === 'url') dropped.push('response_format');
    if (body.quality !== undefined && output.compressionQuality === undefined)
      dropped.push('quality');
    return { body: { instances: [{ prompt }], parameters }, dropped };
  },

  decode(bytes, context) {
    const reply = parseObject(bytes.toString('utf8'));
    if (reply === undefined) return undefined;
    // All pictures filtered away leave an empty object.
    const isEmpty = Object.keys(reply).length === 0;
    const predictions = isEmpty ? [] : arrayOf(reply.predictions);
    if (predictions === undefined) return undefined;
    const data = predictions.map((value) => {
      const prediction = objectOf(value) ?? {};
      return compact({
        b64_json: stringOf(prediction.bytesBase64Encoded),
        revised_prompt: stringOf(prediction.prompt),
        mime_type: stringOf(prediction.mimeType),
        filtered_reason: stringOf(prediction.raiFilteredReason),
      });
    });
    const images = data.filter((image) => image.b64_json !== undefined).length;
    const created = Math.floor(context.nowMs / 1000);
    const body = { created, data, provider: context.provider.id };
    return {
      body: Buffer.from(JSON.stringify(body)),
      facts: { model: context.model, units: { images } },
    };
  },
};

export const imageGenerate: EndpointEntry = {
  format: 'vertex-ai/images',
  path: (facts) => publisherPath(facts, 'predict'),
  dialect: imagen,
};
