import type { ChatPart, ChatReply, JsonObject, JsonValue } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { customArguments } from '../custom-tools.ts';
import { isCallersOwn } from './callers-own.ts';
import { faultOf } from './errors.ts';
import { decodePicture } from './pictures.ts';
import { signatureOf, thoughtOf } from './sealed-thinking.ts';
import { decodeFinish, formatName, rawFinishOf, usageOf } from './wire.ts';

/**
 * Wire → model; undefined when the body is not a response.
 * @throws GatewayError('upstream.error') for one that failed, which is told with status 200
 */
export function decodeReply(body: JsonObject): ChatReply | undefined {
  const output = arrayOf(body.output);
  if (output === undefined) return undefined;
  if (body.status === 'failed') throw failure(body);
  const parts = output.flatMap((item) => decodeItem(objectOf(item) ?? {}, body.tools));
  const logprobs = logprobsOf(output.map((item) => objectOf(item) ?? {}));
  return compact<ChatReply>({
    id: stringOf(body.id),
    model: stringOf(body.model),
    createdSeconds: numberOf(body.created_at),
    choices: [
      compact({
        index: 0,
        parts,
        finishReason: decodeFinish(
          body,
          parts.some((part) => part.type === 'tool-call'),
        ),
        rawFinishReason: rawFinishOf(body),
        logprobs,
      }),
    ],
    usage: usageOf(objectOf(body.usage)),
    serviceTier: stringOf(body.service_tier),
    extensions: { format: formatName, fields: {} },
  });
}

function failure(body: JsonObject): GatewayError {
  const fault = faultOf(body);
  return new GatewayError(
    'upstream.error',
    fault && { message: fault.message, type: fault.type, status: fault.status },
  );
}

function decodeItem(item: JsonObject, tools: JsonValue | undefined): ChatPart[] {
  switch (item.type) {
    case 'message':
      return (arrayOf(item.content) ?? []).map((part) => decodePart(objectOf(part) ?? {}));
    case 'reasoning': {
      const encrypted = stringOf(item.encrypted_content);
      const text = thoughtOf(item);
      if (encrypted === undefined) return text === '' ? [] : [{ type: 'thinking', text }];
      return [{ type: 'thinking', text, signature: signatureOf(encrypted) }];
    }
    case 'function_call':
      return [
        {
          type: 'tool-call',
          id: stringOf(item.call_id) ?? '',
          name: stringOf(item.name) ?? '',
          arguments: stringOf(item.arguments) ?? '',
        },
      ];
    case 'custom_tool_call':
      if (!isCallersOwn(item, tools)) return [foreign(item)];
      return [
        {
          type: 'tool-call',
          id: stringOf(item.call_id) ?? '',
          name: stringOf(item.name) ?? '',
          arguments: customArguments(stringOf(item.input) ?? ''),
        },
      ];
    default:
      return [decodePicture(item) ?? foreign(item)];
  }
}

function foreign(value: JsonObject): ChatPart {
  return { type: 'foreign', format: formatName, value };
}

function decodePart(part: JsonObject): ChatPart {
  if (part.type === 'refusal') return { type: 'refusal', text: stringOf(part.refusal) ?? '' };
  if (part.type !== 'output_text') return foreign(part);
  const annotations = (arrayOf(part.annotations) ?? []) as JsonObject[];
  const text = stringOf(part.text) ?? '';
  return annotations.length === 0
    ? { type: 'text', text }
    : { type: 'text', text, citations: annotations };
}

/** In the shape that chat completions have them. */
function logprobsOf(items: JsonObject[]): JsonObject | undefined {
  const content = items
    .flatMap((item) => (item.type === 'message' ? (arrayOf(item.content) ?? []) : []))
    .flatMap((part) => arrayOf(objectOf(part)?.logprobs) ?? []);
  return content.length === 0 ? undefined : { content, refusal: null };
}
