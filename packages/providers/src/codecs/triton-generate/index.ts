/**
 * Triton's generate extension, as an upstream of completions: one prompt in, text out.
 * https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/extension_generate.html
 */
import type { ChatReply, ChatRequest, ChatStreamEvent, JsonObject } from '@sluice/contracts';
import type { EncodedRequest } from '../../contract.ts';
import { readVendorError } from '../../errors/read-vendor-error.ts';
import type { SseEvent } from '../../framing/sse.ts';
import { invalidStreamType } from '../../framing/stream-tap.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { compact, parseObject, stringOf } from '../../json/json-access.ts';
import type { StreamDecoder, UpstreamCodec } from '../chat-codec.ts';

const formatName = 'triton-generate';

export const tritonGenerate: UpstreamCodec = {
  format: formatName,
  encodeRequest,
  decodeReply,
  decodeError: readVendorError,
  openDecoder: () => new TritonStreamDecoder(),
};

function encodeRequest(request: ChatRequest): EncodedRequest & { body: JsonObject } {
  if ((request.choices ?? 1) > 1)
    throw invalidField('n', 'must be 1: this provider gives one answer per request');
  const parts = request.messages.flatMap((message) => message.parts);
  const [only] = parts;
  if (parts.length !== 1 || only?.type !== 'text')
    throw invalidField('messages', 'must be one text: this provider completes a prompt');
  const candidates: [string, unknown][] = [
    ['logit_bias', request.logitBias],
    ['logprobs', request.logprobs],
    ['user', request.user],
  ];
  const body = compact<Record<string, unknown>>({
    text_input: only.text,
    stream: request.stream || undefined,
    max_tokens: request.outputTokensMax,
    stop_words: request.stop,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    random_seed: request.seed,
    // What the server takes is what its model's configuration says: nothing is held back.
    ...request.extensions.fields,
  });
  const dropped = candidates.filter(([, value]) => value !== undefined).map(([name]) => name);
  return { body: body as JsonObject, dropped };
}

function decodeReply(body: JsonObject): ChatReply | undefined {
  const text = stringOf(body.text_output);
  if (text === undefined) return undefined;
  return compact<ChatReply>({
    model: stringOf(body.model_name),
    choices: [{ index: 0, parts: [{ type: 'text', text }], finishReason: 'stop' }],
    extensions: { format: formatName, fields: {} },
  });
}

/** Each event is a piece of text; the end of the stream is all that tells the end of the answer. */
class TritonStreamDecoder implements StreamDecoder {
  #started = false;

  decode(event: SseEvent): ChatStreamEvent[] {
    if (event.data.trim() === '') return [];
    const body = parseObject(event.data);
    const error = stringOf(body?.error);
    if (error !== undefined)
      return [{ type: 'fault', kind: 'upstream_error', message: error, status: 502 }];
    const text = stringOf(body?.text_output);
    if (text === undefined) return [invalid];
    const out: ChatStreamEvent[] = [];
    if (!this.#started) out.push({ type: 'reply-start', model: stringOf(body?.model_name) });
    this.#started = true;
    if (text !== '') out.push({ type: 'text-delta', choice: 0, block: 0, text });
    return out;
  }

  end(): ChatStreamEvent[] {
    if (!this.#started) return [];
    return [{ type: 'finish', choice: 0, reason: 'stop' }, { type: 'reply-end' }];
  }
}

const invalid: ChatStreamEvent = {
  type: 'fault',
  kind: invalidStreamType,
  message: 'The provider sent an event that is not its format.',
  status: 502,
};
