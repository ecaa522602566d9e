import type { JsonObject, JsonValue } from '@sluice/contracts';
import { inText, jsonIn, type Path, type Place, textsAt } from './places.ts';
import { isDataUrl, saysText, textFile } from './text-file.ts';
import type { Texts } from './texts.ts';

type Found = Pick<Place, 'path' | 'text'>;

/**
 * Every text of a document, wherever it stands: of formats that nobody here
 * reads, and for checks that want all there is. Left out are pictures and
 * sound, which are no texts, and names of members that are plain identifiers
 * where they are not the caller's own. A file of text is what it says, however it is written.
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
  // Of parts of a conversation names are no subject: they are of those who made the tools.
  const isAll = at === undefined;
  const waiting: Waiting[] = [
    { value: root, path: at, isOfTool, isOfText: false, areNamesOwn: false },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path, isOfTool, isOfText, areNamesOwn } = next;
    if (typeof value === 'string') {
      const json = isOfTool && path !== undefined ? jsonIn(value) : undefined;
      if (json === undefined) found.push({ path: pathOf(path), text: value });
      else
        waiting.push({
          value: json,
          path: { parent: path, step: inText },
          isOfTool,
          isOfText: false,
          areNamesOwn: isAll,
        });
    } else if (typeof value === 'number') {
      if (isOfTool && path !== undefined) found.push({ path, text: String(value) });
    } else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--)
        // Written out: there may be many thousands.
        waiting.push({
          value: value[index],
          path: { parent: path, step: index },
          isOfTool,
          isOfText,
          areNamesOwn,
        });
    } else if (typeof value === 'object' && value !== null) {
      const isMedia = saysMedia(value);
      const saysItself = saysText(value);
      // Bedrock's files stand within what says their format.
      const isText = saysItself || isOfText;
      const names = Object.keys(value);
      for (let at = names.length - 1; at >= 0; at--) {
        const name = names[at] as string;
        const inner = value[name];
        if (typeof inner === 'string' && !isText && isBinary(name, inner, isMedia)) continue;
        const isCalled =
          isOfTool || calledWith.has(name) || isInput(name, inner) || isDataPart(name, inner, path);
        waiting.push({
          value: inner,
          path: { parent: path, step: name },
          isOfTool: isCalled,
          isOfText: saysItself,
          areNamesOwn: isAll && (isCalled || (namesOwn.has(name) && !areNamesOwn)),
        });
        if (areNamesOwn || !isPlainMember(name))
          found.push({ path: { parent: path, step: name, isName: true }, text: name });
        const file = typeof inner === 'string' ? textFile(name, inner, isText) : undefined;
        if (file !== undefined)
          found.push({
            path: { parent: path, step: name, base64Of: file.before },
            text: file.text,
          });
      }
    }
  }
  return found;
}

/** Whether the name of a member is a plain identifier, in which nobody writes. */
export function isPlainMember(name: string): boolean {
  return usualMembers.has(name) || /^[\w$.:/-]{0,64}$/.test(name);
}

/** They need no look. */
const usualMembers: ReadonlySet<string> = new Set(['role', 'content', 'type', 'text', 'parts']);

/** What a tool is called with, and what it answers in a shape of its own. */
const calledWith: ReadonlySet<string> = new Set(['arguments', 'args', 'structuredContent']);

/** The same at Anthropic and Bedrock, where others have what is asked under this name. */
function isInput(name: string, value: JsonValue | undefined): boolean {
  return name === 'input' && typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a part of a message of A2A holds that is no text. */
function isDataPart(name: string, value: JsonValue | undefined, part: Path | undefined): boolean {
  if (name.toLowerCase() !== 'data' || typeof value !== 'object' || value === null) return false;
  const list = part?.parent?.step;
  return typeof part?.step === 'number' && typeof list === 'string' && /^parts$/i.test(list);
}

/** Members whose members the caller names; what is below one of a schema is a schema again. */
const namesOwn: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependentRequired',
  'metadata',
  'variables',
]);

interface Waiting {
  readonly value: JsonValue | undefined;
  readonly path: Path | undefined;
  readonly isOfTool: boolean;
  /** It stands in what says that it is a file of text. */
  readonly isOfText: boolean;
  /** Of an object's members, by whoever asks. */
  readonly areNamesOwn: boolean;
}

/** A text stands somewhere in a document, and is none itself. */
function pathOf(path: Path | undefined): Path {
  if (path === undefined) throw new Error('a text was read as a document');
  return path;
}

/** What a picture or sound consists of. Anything that could be words is none. */
function isBinary(name: string, text: string, isMedia: boolean): boolean {
  const isData =
    (isDataUrl(text) && /^data:(?:image\/(?!svg)|audio\/|video\/)[\w.+-]+;base64,/i.test(text)) ||
    (isMedia && /^(?:data|b64_json|bytes|bytesBase64Encoded|raw)$/.test(name));
  if (!isData) return false;
  const comma = text.startsWith('data:') ? text.indexOf(',') + 1 : 0;
  return /^[A-Za-z0-9+/_=-]*$/.test(text.slice(comma));
}

/** What says that it is a text is one, whatever it says beside. */
function saysMedia(object: JsonObject): boolean {
  if (object.type === 'text') return false;
  const type =
    object.media_type ?? object.mediaType ?? object.mimeType ?? object.mime_type ?? object.format;
  return typeof type === 'string' && /^(?:(?:image|audio|video)\/|wav$|mp3$)/i.test(type);
}
