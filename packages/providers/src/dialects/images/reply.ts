import type { JsonObject } from '@sluice/contracts';
import type { CallContext, ReplyFacts } from '../../contract.ts';
import { compact, stringOf } from '../../json/json-access.ts';

/** An image as OpenAI's list has it, and what else the vendor says of it. */
export type ImageItem = JsonObject & ({ url: string } | { b64_json: string });

/** The images in OpenAI's list. */
export function encodeImages(
  items: readonly ImageItem[],
  context: CallContext,
  facts: ReplyFacts = {},
): { body: JsonObject; facts: ReplyFacts } {
  return {
    body: {
      created: Math.floor(context.nowMs / 1000),
      data: [...items],
      provider: context.provider.id,
    },
    facts: { ...facts, units: { ...facts.units, images: items.length } },
  };
}

/** An image of a vendor that answers with addresses, data URIs or bare base64; undefined when it is none of them. */
export function imageItem(
  image: { url?: unknown; base64?: unknown },
  more: JsonObject = {},
): ImageItem | undefined {
  const url = stringOf(image.url);
  const base64 = stringOf(image.base64) ?? dataOf(url);
  if (base64 !== undefined)
    return compact<ImageItem>({ b64_json: dataOf(base64) ?? base64, ...more });
  return url === undefined ? undefined : compact<ImageItem>({ url, ...more });
}

/** The base64 of a data URI. */
function dataOf(uri: string | undefined): string | undefined {
  return /^data:[^,]*;base64,(.*)$/s.exec(uri ?? '')?.[1];
}

/** All of them, or undefined when one is no image or there is none. */
export function allImages(items: readonly (ImageItem | undefined)[]): ImageItem[] | undefined {
  return items.length > 0 && items.every((item) => item !== undefined)
    ? (items as ImageItem[])
    : undefined;
}
