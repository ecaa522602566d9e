import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  ForeignPart,
  ImagePart,
  JsonObject,
  JsonValue,
  TextPart,
} from '@sluice/contracts';
import { cacheControlOf, decodeBlocks } from '../codecs/anthropic-messages/decode-blocks.ts';
import type { WireFormat } from '../contract.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';

/**
 * The request with what only the caller's format has a part for as texts and pictures, where it is made
 * of these: results of a search and documents in pieces, without which the question is another.
 * That they may be cited is named in `dropped`.
 */
export function toldInWords(
  request: ChatRequest,
  format: WireFormat,
  dropped: string[],
): ChatRequest {
  const isTold = (part: ChatPart): part is ForeignPart =>
    part.type === 'foreign' && part.format !== format && piecesOf(part.value) !== undefined;
  const isConcerned = (part: ChatPart): boolean =>
    isTold(part) || (part.type === 'tool-result' && part.content.some(isTold));
  if (!request.messages.some(({ parts }) => parts.some(isConcerned))) return request;

  const told = <Part extends ChatPart>(part: Part, path: string): (Part | Piece)[] => {
    if (!isTold(part)) return [part];
    if (objectOf(part.value.citations)?.enabled === true)
      dropped.push(`${path}.${part.value.type}.citations`);
    return piecesOf(part.value) ?? [];
  };
  const toldMessage = (message: ChatMessage): ChatMessage => ({
    ...message,
    parts: message.parts.flatMap((part): ChatPart[] =>
      part.type === 'tool-result'
        ? [{ ...part, content: part.content.flatMap((piece) => told(piece, message.path)) }]
        : told(part, message.path),
    ),
  });
  return { ...request, messages: request.messages.map(toldMessage) };
}

type Piece = TextPart | ImagePart;

/** Of Anthropic's parts that hold texts and pictures, with the mark that each has for the cache; undefined for all others. */
function piecesOf(value: JsonObject): Piece[] | undefined {
  if (value.type === 'search_result')
    return joined([value.title, value.source], value.content, value);
  const source = objectOf(value.source);
  if (value.type !== 'document' || source?.type !== 'content') return undefined;
  return joined([value.title, value.context], source.content, value);
}

function joined(
  heads: (JsonValue | undefined)[],
  content: JsonValue | undefined,
  block: JsonObject,
): Piece[] | undefined {
  if (typeof content !== 'string' && arrayOf(content)?.every(objectOf) !== true) return undefined;
  const titles = heads.flatMap((head): ChatPart[] => {
    const text = stringOf(head);
    return text ? [{ type: 'text', text }] : [];
  });
  const pieces: Piece[] = [];
  for (const part of [...titles, ...decodeBlocks(content, block.type as string)]) {
    if (part.type !== 'text' && part.type !== 'image') return undefined;
    const last = pieces.at(-1);
    if (part.type === 'image') pieces.push(part);
    else if (last?.type !== 'text') pieces.push({ type: 'text', text: part.text, ...markOf(part) });
    else Object.assign(last, { text: `${last.text}\n${part.text}`, ...markOf(part) });
  }
  Object.assign(pieces.at(-1) ?? {}, cacheControlOf(block));
  return pieces;
}

function markOf({ cacheControl }: Piece): Pick<Piece, 'cacheControl'> {
  return cacheControl === undefined ? {} : { cacheControl };
}
