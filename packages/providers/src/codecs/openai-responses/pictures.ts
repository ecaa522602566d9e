/** Pictures that a model draws: items here, parts of the answer elsewhere. */
import type { ImagePart, JsonObject, MediaSource } from '@sluice/contracts';
import { stringOf } from '../../json/json-access.ts';

/** Undefined when the item holds no picture, or not yet. */
export function decodePicture(item: JsonObject): ImagePart | undefined {
  const data = stringOf(item.result);
  if (item.type !== 'image_generation_call' || data === undefined) return undefined;
  const mediaType = `image/${stringOf(item.output_format) ?? 'png'}`;
  return { type: 'image', source: { kind: 'base64', mediaType, data } };
}

/** Undefined for a picture that is not told by its bytes. */
export function encodePicture(source: MediaSource, id: string): JsonObject | undefined {
  if (source.kind !== 'base64') return undefined;
  const output_format = source.mediaType.slice(source.mediaType.indexOf('/') + 1);
  const status = 'completed';
  return { id, type: 'image_generation_call', status, output_format, result: source.data };
}
