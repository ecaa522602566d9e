import type { JsonObject, JsonValue } from '@sluice/contracts';
import { inText, jsonIn, type Path, type Place, textsAt } from './places.ts';
import type { Texts } from './texts.ts';

type Found = Pick<Place, 'path' | 'text'>;

/**
 * Every text of a document, wherever it stands: of formats that nobody here
 * reads, and for checks that want all there is. Left out are pictures and
 * sound, which are no texts, and names of members that are plain identifiers.
 */
export function allTexts(document: JsonObject): Texts {
  return textsAt(document, textsWithin(document, undefined));
}

/**
 * The texts of a value. What a tool is called with is read as what it is: the
 * JSON in its text, where escapes would hide words, and the numbers in it.
 */
export function textsWithin(
  root: JsonValue | undefined,
  at: Path | undefined,
  isOfTool = false,
): Found[] {
  const found: Found[] = [];
  const waiting: Waiting[] = [{ value: root, path: at, isOfTool }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path, isOfTool } = next;
    if (typeof value === 'string') {
      const json = isOfTool && path !== undefined ? jsonIn(value) : undefined;
      if (json === undefined) found.push({ path: pathOf(path), text: value });
      else waiting.push({ value: json, path: { parent: path, step: inText }, isOfTool: true });
    } else if (typeof value === 'number') {
      if (isOfTool && path !== undefined) found.push({ path, text: String(value) });
    } else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--)
        waiting.push({ value: value[index], path: { parent: path, step: index }, isOfTool });
    } else if (typeof value === 'object' && value !== null) {
      const isMedia = saysMedia(value);
      for (const name of Object.keys(value).toReversed()) {
        const inner = value[name];
        if (typeof inner === 'string' && isBinary(name, inner, isMedia)) continue;
        const isCalled = isOfTool || ownNames.has(name);
        waiting.push({ value: inner, path: { parent: path, step: name }, isOfTool: isCalled });
        if (!/^[\w$.:@/-]{0,64}$/.test(name))
          found.push({ path: { parent: path, step: name, isName: true }, text: name });
      }
    }
  }
  return found;
}

/** What a tool is called with, and what it answers in a shape of its own. */
const ownNames: ReadonlySet<string> = new Set(['arguments', 'args', 'structuredContent']);

interface Waiting {
  readonly value: JsonValue | undefined;
  readonly path: Path | undefined;
  readonly isOfTool: boolean;
}

/** A text stands somewhere in a document, and is none itself. */
function pathOf(path: Path | undefined): Path {
  if (path === undefined) throw new Error('a text was read as a document');
  return path;
}

/** What a picture or sound consists of. Anything that could be words is none. */
function isBinary(name: string, text: string, isMedia: boolean): boolean {
  const isData =
    /^data:(?:image|audio|video)\/[\w.+-]+;base64,/i.test(text) ||
    (isMedia && /^(?:data|b64_json|bytes|bytesBase64Encoded)$/.test(name));
  if (!isData) return false;
  const comma = text.startsWith('data:') ? text.indexOf(',') + 1 : 0;
  return /^[A-Za-z0-9+/_=-]*$/.test(text.slice(comma));
}

function saysMedia(object: JsonObject): boolean {
  const type = object.media_type ?? object.mimeType ?? object.mime_type ?? object.format;
  return typeof type === 'string' && /^(?:(?:image|audio|video)\/|wav$|mp3$)/i.test(type);
}
