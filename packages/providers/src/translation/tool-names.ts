/**
 * Names of tools that a provider would refuse, on their way there and back:
 * too long, or with characters it does not take. The model is shown a fitting
 * name, and its calls are told by the caller's.
 */
import type {
  ChatChoice,
  ChatMessage,
  ChatPart,
  ChatReply,
  ChatRequest,
  ChatStreamEvent,
  ChatTool,
  JsonObject,
} from '@sluice/contracts';
import type { StreamDecoder } from '../codecs/chat-codec.ts';
import type { WireFormat } from '../contract.ts';
import { fittingWord, type WordRule } from '../fitting-words.ts';
import { toldTools } from './told-tools.ts';

function upTo(lengthMax: number): WordRule {
  return { isGood: new RegExp(`^[A-Za-z0-9_-]{1,${lengthMax}}$`), lengthMax };
}

/** OpenAI's rule, which those who follow it took over with the format. */
const common = upTo(64);

const rules: Partial<Record<WireFormat, WordRule>> = {
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools
  'anthropic-messages': upTo(128),
  // https://ai.google.dev/api/caching#FunctionDeclaration
  gemini: { isGood: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/, lengthMax: 64 },
};

export function toolNameRule(format: WireFormat): WordRule {
  return rules[format] ?? common;
}

/** The request with names that the rule takes, in its tools and its history; itself where all are good. */
export function withFittingNames(request: ChatRequest, rule: WordRule): ChatRequest {
  const isBad = (name: string): boolean => !rule.isGood.test(name);
  const { tools, toolChoice, messages } = request;
  const isBadTool = (tool: ChatTool): boolean => tool.type === 'function' && isBad(tool.name);
  const isBadPart = (part: ChatPart): boolean => part.type === 'tool-call' && isBad(part.name);
  const isBadTurn = ({ parts }: ChatMessage): boolean => parts.some(isBadPart);
  if (tools?.some(isBadTool) !== true && !messages.some(isBadTurn)) return request;
  const fit = <T extends { name: string }>(named: T): T =>
    isBad(named.name) ? { ...named, name: fittingWord(named.name, rule) } : named;
  return {
    ...request,
    messages: messages.map((message) =>
      isBadTurn(message)
        ? {
            ...message,
            parts: message.parts.map((part) => (part.type === 'tool-call' ? fit(part) : part)),
          }
        : message,
    ),
    ...(tools && { tools: tools.map((tool) => (tool.type === 'function' ? fit(tool) : tool)) }),
    ...(toolChoice?.type === 'tool' && { toolChoice: fit(toolChoice) }),
  };
}

/** The caller's names by those that the model was shown; undefined where they are the same. */
export function callerNames(
  request: JsonObject,
  rule: WordRule,
): ReadonlyMap<string, string> | undefined {
  let names: Map<string, string> | undefined;
  for (const { wholeName: name } of toldTools(request)) {
    if (name === undefined || rule.isGood.test(name)) continue;
    names ??= new Map();
    names.set(fittingWord(name, rule), name);
  }
  return names;
}

export function withCallerNames(
  reply: ChatReply,
  names: ReadonlyMap<string, string> | undefined,
): ChatReply {
  if (names === undefined) return reply;
  const named = (choice: ChatChoice): ChatChoice => ({
    ...choice,
    parts: choice.parts.map((part) =>
      part.type === 'tool-call' ? { ...part, name: names.get(part.name) ?? part.name } : part,
    ),
  });
  return { ...reply, choices: reply.choices.map(named) };
}

/** The decoder of a stream whose calls are told by the caller's names. */
export function decoderWithCallerNames(
  decoder: StreamDecoder,
  names: ReadonlyMap<string, string> | undefined,
): StreamDecoder {
  if (names === undefined) return decoder;
  const named = (event: ChatStreamEvent): ChatStreamEvent =>
    event.type === 'tool-call-start'
      ? { ...event, name: names.get(event.name) ?? event.name }
      : event;
  return {
    decode: (event) => decoder.decode(event).map(named),
    end: () => decoder.end().map(named),
  };
}
