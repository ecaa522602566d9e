import type { ChatRequest, JsonObject, JsonValue } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  booleanOf,
  compact,
  numberField,
  objectOf,
  stringOf,
} from '../../json/json-access.ts';
import { formatName as CHAT } from '../openai-chat/wire.ts';

/** Fields that the chat model has a name for, or that are refused. */
const knownMembers = new Set(
  `model prompt stream stream_options max_tokens temperature top_p top_k n logprobs stop seed
  frequency_penalty presence_penalty logit_bias user echo best_of suffix`.split(/\s+/),
);

/** Wire → model: one prompt is one message of the user. */
export function decodeRequest(body: JsonObject): { request: ChatRequest; dropped: string[] } {
  const model = stringOf(body.model);
  if (model === undefined) throw invalidField('model', 'must be a string');
  refuse(body);
  const fields: JsonObject = {};
  for (const key in body) {
    const value = body[key];
    if (!knownMembers.has(key) && value !== null && value !== undefined) fields[key] = value;
  }
  const logprobs = numberField(body, 'logprobs');
  const rest = {
    includeUsage: booleanOf(objectOf(body.stream_options)?.include_usage),
    outputTokensMax: numberField(body, 'max_tokens'),
    temperature: numberField(body, 'temperature'),
    topP: numberField(body, 'top_p'),
    topK: numberField(body, 'top_k'),
    frequencyPenalty: numberField(body, 'frequency_penalty'),
    presencePenalty: numberField(body, 'presence_penalty'),
    logitBias: objectOf(body.logit_bias),
    logprobs: logprobs === undefined ? undefined : true,
    topLogprobs: logprobs,
    choices: numberField(body, 'n'),
    seed: numberField(body, 'seed'),
    stop: decodeStop(body.stop),
    user: stringOf(body.user),
  };
  const prompt = decodePrompt(body.prompt);
  const request: ChatRequest = {
    model,
    messages: [{ role: 'user', parts: [{ type: 'text', text: prompt }], path: 'prompt' }],
    stream: body.stream === true,
    // What a compatible provider knows beyond the standard, it knows of both endpoints.
    extensions: { format: CHAT, fields },
    ...compact(rest),
  };
  return { request, dropped: [] };
}

/** What a conversation cannot do: an answer to part of it would be a wrong one. */
function refuse(body: JsonObject): void {
  const only = 'is not offered by this provider, which completes by chat';
  if (body.echo === true) throw invalidField('echo', only);
  if (body.suffix !== undefined && body.suffix !== null && body.suffix !== '')
    throw invalidField('suffix', only);
  const best = numberField(body, 'best_of');
  if (best !== undefined && best > Math.max(1, numberField(body, 'n') ?? 1))
    throw invalidField('best_of', only);
}

function decodePrompt(prompt: JsonValue | undefined): string {
  if (typeof prompt === 'string') return prompt;
  const list = arrayOf(prompt);
  if (list === undefined) throw invalidField('prompt', 'must be a string');
  if (list.length !== 1) throw invalidField('prompt', 'must be one prompt for this provider');
  const [only] = list;
  if (typeof only !== 'string') throw invalidField('prompt[0]', 'must be text, not tokens');
  return only;
}

function decodeStop(value: JsonValue | undefined): string[] | undefined {
  if (typeof value === 'string') return [value];
  return arrayOf(value)?.filter((entry) => typeof entry === 'string');
}
