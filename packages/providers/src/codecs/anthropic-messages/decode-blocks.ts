import type {
  CacheControl,
  ChatPart,
  JsonObject,
  JsonValue,
  MediaSource,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, booleanOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { isToolChange } from './conversation-changes.ts';
import { formatName } from './wire.ts';

/** `content` or `system`: a string, a list of blocks, or nothing. Blocks before `from` are left out. */
export function decodeBlocks(content: JsonValue | undefined, path: string, from = 0): ChatPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const list = arrayOf(content);
  if (list === undefined) throw invalidField(path, 'must hold a string or a list of blocks');
  return list.flatMap((value, index) => {
    const block = objectOf(value);
    if (block === undefined) throw invalidField(`${path}.content[${index}]`, 'must be an object');
    if (index < from || isToolChange(block)) return [];
    return decodeBlock(block, `${path}.content[${index}]`);
  });
}

/** Names the images that are to be refused rather than made smaller: no other vendor can be asked for it. */
export function imagesToRefuse(content: JsonValue | undefined, path: string): string[] {
  return (arrayOf(content) ?? []).flatMap((value) => {
    const block = objectOf(value);
    if (block?.type === 'tool_result') return imagesToRefuse(block.content, path);
    const size = objectOf(block?.transformations)?.oversized_image ?? 'downsize';
    return size === 'downsize' ? [] : [`${path}.image.transformations`];
  });
}

function decodeBlock(block: JsonObject, path: string): ChatPart {
  const cache = cacheControlOf(block);
  switch (block.type) {
    case 'text': {
      const citations = arrayOf(block.citations) as JsonObject[] | undefined;
      return compact({
        type: 'text' as const,
        text: stringOf(block.text) ?? '',
        citations,
        // Another vendor's: answers of older gateways carry it here.
        signature: stringOf(block.thought_signature),
        ...cache,
      });
    }
    case 'image': {
      const source = sourceOf(objectOf(block.source));
      return source === undefined ? foreign(block) : { type: 'image', source, ...cache };
    }
    case 'document': {
      const source = sourceOf(objectOf(block.source));
      if (source === undefined) return foreign(block);
      return compact({
        type: 'file' as const,
        source,
        filename: stringOf(block.title),
        context: stringOf(block.context),
        citable: booleanOf(objectOf(block.citations)?.enabled),
        ...cache,
      });
    }
    case 'tool_use':
      return compact({
        type: 'tool-call' as const,
        id: stringOf(block.id) ?? '',
        name: stringOf(block.name) ?? '',
        arguments: JSON.stringify(block.input ?? {}),
        signature: stringOf(block.thought_signature),
        ...cache,
      });
    case 'tool_result':
      return toolResult(block, path);
    case 'thinking':
      return compact({
        type: 'thinking' as const,
        text: stringOf(block.thinking) ?? '',
        // Replies translated from other formats have an empty one: it proves nothing.
        signature: stringOf(block.signature) || undefined,
      });
    case 'redacted_thinking':
      return { type: 'redacted-thinking', data: stringOf(block.data) ?? '' };
    default:
      return foreign(block);
  }
}

function foreign(block: JsonObject): ChatPart {
  return { type: 'foreign', format: formatName, value: block };
}

function toolResult(block: JsonObject, path: string): ToolResultPart {
  const content = decodeBlocks(block.content, path).filter(
    (part) =>
      part.type === 'text' ||
      part.type === 'image' ||
      part.type === 'file' ||
      part.type === 'foreign',
  );
  return compact({
    type: 'tool-result' as const,
    toolCallId: stringOf(block.tool_use_id) ?? '',
    content,
    isError: booleanOf(block.is_error),
    ...cacheControlOf(block),
  });
}

function sourceOf(source: JsonObject | undefined): MediaSource | undefined {
  const data = stringOf(source?.data);
  const mediaType = stringOf(source?.media_type);
  switch (source?.type) {
    case 'base64':
      if (data === undefined || mediaType === undefined) return undefined;
      return { kind: 'base64', mediaType, data };
    case 'text':
      return data === undefined
        ? undefined
        : { kind: 'text', mediaType: mediaType ?? 'text/plain', text: data };
    case 'url': {
      const url = stringOf(source.url);
      return url === undefined ? undefined : { kind: 'url', url };
    }
    case 'file': {
      const fileId = stringOf(source.file_id);
      return fileId === undefined ? undefined : { kind: 'file-id', fileId };
    }
    default:
      return undefined;
  }
}

export function cacheControlOf(value: JsonObject): { cacheControl?: CacheControl } {
  const control = objectOf(value.cache_control);
  const type = stringOf(control?.type);
  if (type === undefined) return {};
  const ttl = stringOf(control?.ttl);
  return { cacheControl: ttl === undefined ? { type } : { type, ttl } };
}
