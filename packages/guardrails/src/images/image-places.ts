import type { JsonObject, JsonValue } from '@sluice/contracts';

/** A picture by its bytes. */
export interface Picture {
  readonly type: string;
  readonly base64: string;
}

/** What stands in place of an address; undefined leaves it. */
export type PictureOf = (url: string) => Picture | undefined;

/** The conversation of a request with other pictures, in each of its formats. */
export function withPictures(request: JsonObject, pictureOf: PictureOf): JsonObject {
  const changed: JsonObject = { ...request };
  for (const name of ['messages', 'input', 'system'] as const) {
    const value = request[name];
    if (typeof value === 'object' && value !== null) changed[name] = walk(value, pictureOf, 0);
  }
  return changed;
}

/** Messages, their parts, and the parts of what tools answered. */
const depthMax = 8;

function walk(value: JsonValue, pictureOf: PictureOf, depth: number): JsonValue {
  if (typeof value !== 'object' || value === null || depth > depthMax) return value;
  if (Array.isArray(value)) return value.map((item) => walk(item, pictureOf, depth + 1));
  const changed = changedPart(value, pictureOf);
  if (changed !== undefined) return changed;
  const inner: JsonObject = { ...value };
  for (const name of ['content', 'output'] as const) {
    const part = value[name];
    if (typeof part === 'object' && part !== null) inner[name] = walk(part, pictureOf, depth + 1);
  }
  return inner;
}

/** A part that is a picture, with its bytes; undefined where it is none that has an address. */
function changedPart(part: JsonObject, pictureOf: PictureOf): JsonObject | undefined {
  if (part.type === 'image_url' || part.type === 'input_image') {
    const { image_url: named } = part;
    const url =
      typeof named === 'object' && named !== null && !Array.isArray(named) ? named.url : named;
    const picture = typeof url === 'string' ? pictureOf(url) : undefined;
    if (picture === undefined) return undefined;
    const data = `data:${picture.type};base64,${picture.base64}`;
    return {
      ...part,
      image_url: typeof named === 'string' ? data : { ...(named as JsonObject), url: data },
    };
  }
  if (part.type !== 'image') return undefined;
  const source = part.source;
  if (typeof source !== 'object' || source === null || Array.isArray(source)) return undefined;
  const picture =
    source.type === 'url' && typeof source.url === 'string' ? pictureOf(source.url) : undefined;
  if (picture === undefined) return undefined;
  return { ...part, source: { type: 'base64', media_type: picture.type, data: picture.base64 } };
}
