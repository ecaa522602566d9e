import type { ChatPart, ChatReply, JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf } from '../../json/json-access.ts';
import type { ReplyOptions } from '../chat-codec.ts';
import { type AskedTool, askedTools } from './asked-tools.ts';
import {
  annotationsOf,
  type ItemStatus,
  logprobsOf,
  messageItem,
  outputText,
  reasoningItem,
  refusalPart,
} from './output-items.ts';
import { encodePicture } from './pictures.ts';
import { endState, headOf, itemId, responseObject } from './response-object.ts';
import { sealForCaller, sealPart } from './sealed-thinking.ts';
import { callItem } from './tool-items.ts';
import { formatName } from './wire.ts';

/** Model → wire. Several choices cannot be told here: the first is the response. */
export function encodeReply(reply: ChatReply, options: ReplyOptions): JsonObject {
  const choice = reply.choices[0];
  const head = headOf(reply, options);
  const finish = choice?.finishReason ?? 'stop';
  const end = endState(finish, [], reply.usage);
  const isCut = end.status === 'incomplete';
  const logprobs = logprobsOf(arrayOf(choice?.logprobs?.content) ?? []);
  const asked = askedTools(options.request);
  const output = encodeParts(choice?.parts ?? [], head.id, isCut, logprobs, asked);
  return responseObject(head, { ...end, output }, options);
}

/** Texts that follow each other are one message; what was cut off is the last item. */
function encodeParts(
  parts: ChatPart[],
  responseId: string,
  isCut: boolean,
  logprobs: JsonValue[],
  asked: ReadonlyMap<string, AskedTool>,
): JsonObject[] {
  const output: JsonObject[] = [];
  let content: JsonObject[] | undefined;
  // Probabilities are told of the whole answer: the first text has them.
  let unsaid = logprobs;
  for (const [index, part] of parts.entries()) {
    const status: ItemStatus = isCut && index === parts.length - 1 ? 'incomplete' : 'completed';
    const encoded = contentPart(part, unsaid);
    if (encoded !== undefined) {
      if (part.type === 'text') unsaid = [];
      if (content === undefined) {
        content = [];
        output.push(messageItem(itemId('msg', responseId, output.length), status, content));
      }
      content.push(encoded);
      (output.at(-1) as JsonObject).status = status;
    } else {
      const item = wholeItem(part, responseId, output.length, status, asked);
      if (item === undefined) continue;
      output.push(item);
      content = undefined;
    }
    const proof = proofOf(part);
    if (proof === undefined) continue;
    const id = itemId('rs', responseId, output.length);
    output.push(reasoningItem(id, '', sealPart(proof), 'completed'));
    content = undefined;
  }
  return output;
}

function proofOf(part: ChatPart): string | undefined {
  return part.type !== 'thinking' && 'signature' in part ? part.signature : undefined;
}

function contentPart(part: ChatPart, logprobs: JsonValue[]): JsonObject | undefined {
  if (part.type === 'refusal') return refusalPart(part.text);
  if (part.type !== 'text') return undefined;
  return outputText(part.text, annotationsOf(part.citations ?? [], part.text), logprobs);
}

function wholeItem(
  part: ChatPart,
  responseId: string,
  index: number,
  status: ItemStatus,
  asked: ReadonlyMap<string, AskedTool>,
): JsonObject | undefined {
  switch (part.type) {
    case 'thinking':
      return reasoningItem(itemId('rs', responseId, index), part.text, sealForCaller(part), status);
    case 'redacted-thinking':
      return reasoningItem(itemId('rs', responseId, index), '', sealForCaller(part), status);
    case 'tool-call': {
      const id = itemId('fc', responseId, index);
      const { name } = part;
      const call = { id, callId: part.id, name, arguments: part.arguments || '{}' };
      return callItem(call, asked.get(name), status);
    }
    case 'image':
      return encodePicture(part.source, itemId('ig', responseId, index));
    case 'foreign':
      return part.format === formatName ? part.value : undefined;
    default:
      return undefined;
  }
}
