import type {
  ChatMessage,
  ChatPart,
  ChatReply,
  ChatRequest,
  FinishReason,
  MediaSource,
} from '@sluice/contracts';
import { jsonBounds, readJsonText } from '@sluice/json';

/**
 * The chat model in the shape that OpenTelemetry's conventions give messages:
 * a role and parts. What they have no part for keeps its kind, without its content.
 */
interface Message {
  readonly role: string;
  readonly name?: string;
  readonly parts: readonly object[];
  readonly finish_reason?: string;
}

/** The history; instructions that stand apart from it are told apart. */
export function inputMessages({ messages }: ChatRequest): readonly Message[] {
  return messages
    .filter((message) => !isInstruction(message))
    .map(({ role, name, parts }) => ({
      role,
      ...(name !== undefined && { name }),
      parts: parts.map(partOf),
    }));
}

export function systemInstructions({ messages }: ChatRequest): readonly object[] {
  return messages.filter(isInstruction).flatMap(({ parts }) => parts.map(partOf));
}

/** Some formats have a place of its own for it, which the chat model names. */
function isInstruction({ role, path }: ChatMessage): boolean {
  return role === 'system' && (path === 'system' || path === 'instructions');
}

export function outputMessages({ choices }: ChatReply): readonly Message[] {
  return choices.map(({ parts, finishReason }) => ({
    role: 'assistant',
    parts: parts.map(partOf),
    finish_reason: finishReasons[finishReason],
  }));
}

const finishReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_call',
  'content-filter': 'content_filter',
  other: 'error',
};

function partOf(part: ChatPart): object {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', content: part.text };
    case 'thinking':
      return { type: 'reasoning', content: part.text };
    case 'tool-call':
      return {
        type: 'tool_call',
        id: part.id,
        name: part.name,
        arguments: argumentsOf(part.arguments),
      };
    case 'tool-result':
      return {
        type: 'tool_call_response',
        id: part.toolCallId,
        response: part.content.map(partOf),
      };
    case 'image':
      return mediaOf('image', part.source);
    case 'file':
      return mediaOf(undefined, part.source);
    case 'audio':
      return {
        type: 'blob',
        modality: 'audio',
        mime_type: `audio/${part.format}`,
        content: part.data,
      };
    default:
      return { type: part.type };
  }
}

function mediaOf(modality: 'image' | undefined, source: MediaSource): object {
  const kind = modality ?? 'file';
  switch (source.kind) {
    case 'base64':
      return { type: 'blob', modality: kind, mime_type: source.mediaType, content: source.data };
    case 'url':
      return { type: 'uri', modality: kind, mime_type: source.mediaType ?? null, uri: source.url };
    case 'file-id':
      return { type: 'file', modality: kind, file_id: source.fileId };
    default:
      return { type: 'text', content: source.text };
  }
}

/** As the model wrote them, where that is no JSON. */
function argumentsOf(text: string): unknown {
  try {
    return readJsonText(text, jsonBounds.reply);
  } catch {
    return text;
  }
}
