import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
  FilePart,
  JsonObject,
  Reasoning,
  ResponseFormat,
  ToolResultPart,
} from '@sluice/contracts';
import { compact } from '../../json/json-access.ts';
import { dataUrl, urlOfSource } from '../data-url.ts';
import { partName } from '../part-name.ts';

/** These refuse a limit that leaves their thinking out. */
const countsThinking = /^openai\.(?:gpt-5|o\d)/;

/** `chatRequest` in the format of most models. */
export function encodeGeneric(request: ChatRequest, dropped: string[]): JsonObject {
  dropped.push(...Object.keys(request.extensions.fields), ...droppedFields(request));
  const limit = countsThinking.test(request.model) ? 'maxCompletionTokens' : 'maxTokens';
  const messages: JsonObject[] = [];
  for (const message of request.messages) encodeMessage(message, messages, dropped);
  const body = compact<Record<string, unknown>>({
    apiFormat: 'GENERIC',
    messages,
    isStream: request.stream || undefined,
    streamOptions: request.stream ? { isIncludeUsage: true } : undefined,
    [limit]: request.outputTokensMax,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    frequencyPenalty: request.frequencyPenalty,
    presencePenalty: request.presencePenalty,
    numGenerations: request.choices,
    seed: request.seed,
    stop: request.stop,
    logProbs: request.logprobs === true ? (request.topLogprobs ?? 0) : undefined,
    logitBias: request.logitBias,
    tools: encodeTools(request.tools, dropped),
    toolChoice: toolChoice(request),
    isParallelToolCalls: request.parallelToolCalls,
    reasoningEffort: effort(request.reasoning)?.toUpperCase(),
    responseFormat: responseFormat(request.responseFormat),
  });
  return body as JsonObject;
}

function droppedFields(request: ChatRequest): string[] {
  const candidates: [string, unknown][] = [
    ['user', request.user],
    ['service_tier', request.serviceTier],
    ['thinking.display', request.reasoning?.display],
    ['thinking.type', request.reasoning?.mode === 'between_tools' || undefined],
  ];
  return candidates.filter(([, value]) => value !== undefined).map(([name]) => name);
}

function encodeMessage(message: ChatMessage, out: JsonObject[], dropped: string[]): void {
  const media: ChatPart[] = [];
  const rest: ChatPart[] = [];
  for (const part of message.parts) {
    if (part.type === 'tool-result') out.push(encodeToolResult(part, media, message, dropped));
    else rest.push(part);
  }
  // A tool message holds text only, so what else a tool returned follows as the user's.
  if (media.length > 0) out.push({ role: 'USER', content: encodeContent(media, message, dropped) });
  if (rest.length === 0 && message.role === 'tool') return;
  const body: JsonObject = {
    role: roles[message.role],
    content: encodeContent(rest, message, dropped),
  };
  if (message.name !== undefined) body.name = message.name;
  const calls = rest.flatMap((part): JsonObject[] =>
    part.type === 'tool-call'
      ? [{ id: part.id, type: 'FUNCTION', name: part.name, arguments: part.arguments || '{}' }]
      : [],
  );
  if (calls.length > 0) body.toolCalls = calls;
  out.push(body);
}

const roles = {
  system: 'SYSTEM',
  developer: 'SYSTEM',
  user: 'USER',
  assistant: 'ASSISTANT',
  tool: 'USER',
};

function encodeToolResult(
  part: ToolResultPart,
  media: ChatPart[],
  message: ChatMessage,
  dropped: string[],
): JsonObject {
  const content: JsonObject[] = [];
  for (const piece of part.content) {
    if (piece.type === 'text') content.push({ type: 'TEXT', text: piece.text });
    else if (piece.type === 'foreign')
      dropped.push(`${message.path}.tool_result.${partName(piece)}`);
    else media.push(piece);
  }
  if (part.isError === true) content.unshift({ type: 'TEXT', text: 'Error:' });
  return { role: 'TOOL', toolCallId: part.toolCallId, content };
}

function encodeContent(parts: ChatPart[], message: ChatMessage, dropped: string[]): JsonObject[] {
  const content: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'tool-call') continue;
    const encoded = encodePart(part);
    if (encoded === undefined) dropped.push(`${message.path}.${partName(part)}`);
    else content.push(encoded);
  }
  return content;
}

function encodePart(part: ChatPart): JsonObject | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'TEXT', text: part.text };
    case 'image': {
      const url = urlOfSource(part.source);
      if (url === undefined) return undefined;
      const detail: JsonObject =
        part.detail === undefined ? {} : { detail: part.detail.toUpperCase() };
      return { type: 'IMAGE', imageUrl: { url, ...detail } };
    }
    case 'audio':
      return { type: 'AUDIO', audioUrl: { url: dataUrl(`audio/${part.format}`, part.data) } };
    case 'file':
      return encodeFile(part);
    default:
      return undefined;
  }
}

function encodeFile(part: FilePart): JsonObject | undefined {
  if (part.source.kind === 'text') return { type: 'TEXT', text: part.source.text };
  const url = urlOfSource(part.source);
  return url === undefined ? undefined : { type: 'DOCUMENT', documentUrl: { url } };
}

function encodeTools(tools: ChatTool[] | undefined, dropped: string[]): JsonObject[] | undefined {
  const encoded = (tools ?? []).flatMap((tool): JsonObject[] => {
    if (tool.type === 'provider') {
      dropped.push(tool.path);
      return [];
    }
    if (tool.strict === true) dropped.push(`${tool.path}.function.strict`);
    for (const key in tool.extensions) dropped.push(`${tool.path}.function.${key}`);
    const { name, description, parameters } = tool;
    return [compact({ type: 'FUNCTION', name, description, parameters }) as JsonObject];
  });
  return encoded.length === 0 ? undefined : encoded;
}

function toolChoice({ toolChoice: choice }: ChatRequest): JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (choice.type === 'tool') return { type: 'FUNCTION', name: choice.name };
  return { type: choice.type.toUpperCase() };
}

/** An effort stands for a budget where only a budget was given. */
function effort(reasoning: Reasoning | undefined): string | undefined {
  if (reasoning === undefined) return undefined;
  if (reasoning.effort !== undefined)
    return reasoning.effort === 'xhigh' ? 'high' : reasoning.effort;
  if (reasoning.mode === 'disabled') return 'none';
  if (reasoning.budgetTokens === undefined) return undefined;
  if (reasoning.budgetTokens <= 2048) return 'low';
  return reasoning.budgetTokens <= 10_000 ? 'medium' : 'high';
}

function responseFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format === undefined) return undefined;
  if (format.type === 'text') return { type: 'TEXT' };
  if (format.type === 'json') return { type: 'JSON_OBJECT' };
  const { description, schema, strict } = format;
  const name = format.name ?? 'response';
  const jsonSchema = compact({ name, description, schema, isStrict: strict });
  return { type: 'JSON_SCHEMA', jsonSchema: jsonSchema as JsonObject };
}
