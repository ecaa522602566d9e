import type { ImagePart, JsonObject } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { sourceOfBase64 } from '../data-url.ts';

/**
 * Pictures that a model drew, beside the content:
 * https://openrouter.ai/docs/features/multimodal/image-generation
 */
export function readImages(message: JsonObject): ImagePart[] {
  return (arrayOf(message.images) ?? []).flatMap((value): ImagePart[] => {
    const url = stringOf(objectOf(objectOf(value)?.image_url)?.url);
    if (url === undefined) return [];
    const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    if (mediaType !== undefined && data !== undefined)
      return [{ type: 'image', source: sourceOfBase64(mediaType, data) }];
    return [{ type: 'image', source: { kind: 'url', url } }];
  });
}
