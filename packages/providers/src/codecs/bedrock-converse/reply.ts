import type { ChatPart, ChatReply, JsonObject, JsonValue } from '@sluice/contracts';
import type { ReplyHead } from '../../contract.ts';
import { arrayOf, compact, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import type { ReplyOptions } from '../chat-codec.ts';
import { encodeCitation } from './citations.ts';
import { decodeBlocks } from './decode-blocks.ts';
import { DocumentNames } from './document-names.ts';
import { encodeMedia } from './media.ts';
import { decodeStopReason, encodeStopReason, encodeUsage, formatName, usageOf } from './wire.ts';

const knownMembers = new Set(['output', 'stopReason', 'usage', 'serviceTier']);

/** Wire → model; undefined when the body holds no message. The answer's id is a header here. */
export function decodeReply(body: JsonObject, head?: ReplyHead): ChatReply | undefined {
  const message = objectOf(objectOf(body.output)?.message);
  const content = arrayOf(message?.content);
  if (content === undefined) return undefined;
  const raw = stringOf(body.stopReason);
  const fields: JsonObject = {};
  for (const key in body) {
    const value = body[key];
    if (!knownMembers.has(key) && value !== undefined && value !== null) fields[key] = value;
  }
  const id = head?.headers['x-amzn-requestid'];
  return compact<ChatReply>({
    id: stringOf(id),
    choices: [
      compact({
        index: 0,
        parts: decodeBlocks(
          content.filter((block) => objectOf(block) !== undefined),
          'output.message.content',
        ),
        finishReason: raw === undefined ? ('other' as const) : decodeStopReason(raw),
        rawFinishReason: raw,
        stopSequence: stopSequenceOf(body),
        // What a guardrail found, told where the request asked for it.
        details: body.trace === undefined ? undefined : { trace: body.trace },
      }),
    ],
    usage: usageOf(objectOf(body.usage)),
    serviceTier: stringOf(objectOf(body.serviceTier)?.type),
    extensions: { format: formatName, fields },
  });
}

/** Told only where the request named its path among the fields to return. */
export function stopSequenceOf(body: JsonObject): string | undefined {
  return stringOf(objectOf(body.additionalModelResponseFields)?.stop_sequence);
}

/** Model → wire. Several choices cannot be told here: the first is the message. */
export function encodeReply(reply: ChatReply, _options: ReplyOptions): JsonObject {
  const choice = reply.choices[0];
  const parts = choice?.parts ?? [];
  const reason = choice?.finishReason ?? 'stop';
  const hasCalls = parts.some((part) => part.type === 'tool-call');
  const own = reply.extensions.format === formatName;
  const body = compact<Record<string, unknown>>({
    output: { message: { role: 'assistant', content: encodeContent(parts) } },
    stopReason:
      (own ? choice?.rawFinishReason : undefined) ??
      (hasCalls && reason === 'stop' ? 'tool_use' : encodeStopReason(reason, choice?.stopSequence)),
    usage: reply.usage === undefined ? undefined : encodeUsage(reply.usage),
    serviceTier: reply.serviceTier === undefined ? undefined : { type: reply.serviceTier },
    additionalModelResponseFields:
      choice?.stopSequence === undefined ? undefined : { stop_sequence: choice.stopSequence },
    ...(own ? reply.extensions.fields : {}),
  });
  return body as JsonObject;
}

function encodeContent(parts: ChatPart[]): JsonValue[] {
  const names = new DocumentNames();
  const blocks: JsonObject[] = [];
  for (const part of parts) {
    if (part.type === 'text' && part.citations !== undefined) {
      const citations = part.citations.map(encodeCitation);
      blocks.push({ citationsContent: { content: [{ text: part.text }], citations } });
    } else if (part.type === 'text' || part.type === 'refusal') blocks.push({ text: part.text });
    else if (part.type === 'thinking') {
      const reasoningText = compact({ text: part.text, signature: part.signature }) as JsonObject;
      blocks.push({ reasoningContent: { reasoningText } });
    } else if (part.type === 'redacted-thinking')
      blocks.push({ reasoningContent: { redactedContent: part.data } });
    else if (part.type === 'tool-call')
      blocks.push({
        toolUse: {
          toolUseId: part.id,
          name: part.name,
          input: parseObject(part.arguments) ?? {},
        },
      });
    else if (part.type === 'image' && part.source.kind === 'base64')
      blocks.push(encodeMedia(part, 'output', names));
    else if (part.type === 'foreign' && part.format === formatName) blocks.push(part.value);
  }
  return blocks;
}
