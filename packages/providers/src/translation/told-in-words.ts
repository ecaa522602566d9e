import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  ForeignPart,
  JsonObject,
  JsonValue,
  TextPart,
} from '@sluice/contracts';
import type { WireFormat } from '../contract.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';

/**
 * The request with what only the caller's format has a part for as text, where it is made
 * of text: results of a search and documents in pieces, without which the question is another.
 * That they may be cited is named in `dropped`.
 */
export function toldInWords(
  request: ChatRequest,
  format: WireFormat,
  dropped: string[],
): ChatRequest {
  const isTold = (part: ChatPart): part is ForeignPart =>
    part.type === 'foreign' && part.format !== format && wordsOf(part.value) !== undefined;
  const isConcerned = (part: ChatPart): boolean =>
    isTold(part) || (part.type === 'tool-result' && part.content.some(isTold));
  if (!request.messages.some(({ parts }) => parts.some(isConcerned))) return request;

  const told = <Part extends ChatPart>(part: Part, path: string): Part | TextPart => {
    if (!isTold(part)) return part;
    if (objectOf(part.value.citations)?.enabled === true)
      dropped.push(`${path}.${part.value.type}.citations`);
    return { type: 'text', text: wordsOf(part.value) ?? '' };
  };
  const toldMessage = (message: ChatMessage): ChatMessage => ({
    ...message,
    parts: message.parts.map((part) =>
      part.type === 'tool-result'
        ? { ...part, content: part.content.map((piece) => told(piece, message.path)) }
        : told(part, message.path),
    ),
  });
  return { ...request, messages: request.messages.map(toldMessage) };
}

/** Of Anthropic's parts that hold texts; undefined for all others. */
function wordsOf(value: JsonObject): string | undefined {
  if (value.type === 'search_result')
    return joined([value.title, value.source], textsOf(value.content));
  const source = objectOf(value.source);
  if (value.type !== 'document' || source?.type !== 'content') return undefined;
  return joined([value.title, value.context], textsOf(source.content));
}

function joined(heads: (JsonValue | undefined)[], texts: string[] | undefined): string | undefined {
  if (texts === undefined) return undefined;
  return [...heads.flatMap((head) => stringOf(head) || []), ...texts].join('\n');
}

/** Undefined where a piece is no text. */
function textsOf(content: JsonValue | undefined): string[] | undefined {
  if (typeof content === 'string') return [content];
  const texts = arrayOf(content)?.map((piece) => stringOf(objectOf(piece)?.text));
  return texts?.every((text) => text !== undefined) ? texts : undefined;
}
