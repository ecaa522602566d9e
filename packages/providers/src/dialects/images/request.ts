import type { JsonObject } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { stringOf } from '../../json/json-access.ts';

/** @throws GatewayError `request.invalid_field` without one */
export function promptOf(body: JsonObject): string {
  const prompt = stringOf(body.prompt);
  if (prompt === undefined || prompt === '')
    throw invalidField('prompt', 'must be a text that is not empty');
  return prompt;
}

export interface ImageSize {
  width: number;
  height: number;
}

/**
 * OpenAI's `size`; undefined when the model is to choose.
 * @throws GatewayError `request.invalid_field` for what is no size
 */
export function sizeOf(body: JsonObject): ImageSize | undefined {
  const { size } = body;
  if (size === undefined || size === null || size === 'auto') return undefined;
  const match = /^(\d{1,5})x(\d{1,5})$/.exec(stringOf(size) ?? '');
  if (match === null) throw invalidField('size', 'must be like "1024x1024"');
  return { width: Number(match[1]), height: Number(match[2]) };
}

/** The ratio of the list that comes nearest, for vendors that know no other sizes. */
export function nearestRatio({ width, height }: ImageSize, ratios: readonly string[]): string {
  const wanted = Math.log(width / height);
  const distance = (ratio: string): number => {
    const [w = 1, h = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(w / h) - wanted);
  };
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

/** What only OpenAI's own image models know. */
export const openAiOnly = [
  'background',
  'moderation',
  'output_compression',
  'partial_images',
  'quality',
  'stream',
  'user',
] as const;

/** Names `response_format` as dropped when the caller wants what this vendor does not send. */
export function droppedFormat(body: JsonObject, sends: 'url' | 'b64_json'): string[] {
  const { response_format: format } = body;
  return typeof format === 'string' && format !== sends ? ['response_format'] : [];
}
