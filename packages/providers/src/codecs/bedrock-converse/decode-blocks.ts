import type {
  ChatPart,
  JsonObject,
  JsonValue,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { decodeCitation } from './citations.ts';
import { decodeMedia } from './media.ts';
import { decodeCachePoint, formatName } from './wire.ts';

/** `content` or `system` of a request or an answer. A cache point belongs to the block before it. */
export function decodeBlocks(content: JsonValue | undefined, path: string): ChatPart[] {
  if (content === undefined || content === null) return [];
  const list = arrayOf(content);
  if (list === undefined) throw invalidField(path, 'must be a list of blocks');
  const parts: ChatPart[] = [];
  for (const [index, value] of list.entries()) {
    const block = objectOf(value);
    if (block === undefined) throw invalidField(`${path}[${index}]`, 'must be an object');
    const cacheControl = decodeCachePoint(block);
    const last = parts.at(-1);
    if (cacheControl === undefined) parts.push(...decodeBlock(block));
    else if (last !== undefined) Object.assign(last, { cacheControl });
  }
  return parts;
}

function decodeBlock(block: JsonObject): ChatPart[] {
  const text = stringOf(block.text);
  if (text !== undefined) return [{ type: 'text', text }];
  const toolUse = objectOf(block.toolUse);
  if (toolUse !== undefined) return [toolCall(toolUse)];
  const toolResult = objectOf(block.toolResult);
  if (toolResult !== undefined) return [decodeToolResult(toolResult)];
  const reasoning = objectOf(block.reasoningContent);
  if (reasoning !== undefined) return decodeReasoning(reasoning, block);
  const cited = objectOf(block.citationsContent);
  if (cited !== undefined) return [decodeCited(cited)];
  return [decodeMedia(block) ?? { type: 'foreign', format: formatName, value: block }];
}

function toolCall(toolUse: JsonObject): ToolCallPart {
  return {
    type: 'tool-call',
    id: stringOf(toolUse.toolUseId) ?? '',
    name: stringOf(toolUse.name) ?? '',
    arguments: JSON.stringify(toolUse.input ?? {}),
  };
}

function decodeReasoning(reasoning: JsonObject, block: JsonObject): ChatPart[] {
  const text = objectOf(reasoning.reasoningText);
  if (text !== undefined)
    return [
      compact({
        type: 'thinking' as const,
        text: stringOf(text.text) ?? '',
        signature: stringOf(text.signature),
      }),
    ];
  const data = stringOf(reasoning.redactedContent);
  return [
    data === undefined
      ? { type: 'foreign', format: formatName, value: block }
      : { type: 'redacted-thinking', data },
  ];
}

function decodeCited(cited: JsonObject): TextPart {
  const pieces = (arrayOf(cited.content) ?? []).map(
    (piece) => stringOf(objectOf(piece)?.text) ?? '',
  );
  const citations = (arrayOf(cited.citations) ?? []).map((citation) =>
    decodeCitation(objectOf(citation) ?? {}),
  );
  return { type: 'text', text: pieces.join(''), citations };
}

function decodeToolResult(result: JsonObject): ToolResultPart {
  const content: ToolResultPart['content'] = [];
  for (const value of arrayOf(result.content) ?? []) {
    const block = objectOf(value) ?? {};
    const medium = decodeMedia(block);
    if (typeof block.text === 'string') content.push({ type: 'text', text: block.text });
    // Other formats have only text for what this one has JSON for.
    else if (block.json !== undefined)
      content.push({ type: 'text', text: JSON.stringify(block.json) });
    else if (medium?.type === 'image' || medium?.type === 'file') content.push(medium);
    else content.push({ type: 'foreign', format: formatName, value: block });
  }
  const status = stringOf(result.status);
  return compact({
    type: 'tool-result' as const,
    toolCallId: stringOf(result.toolUseId) ?? '',
    content,
    isError: status === undefined ? undefined : status === 'error',
  });
}
