import { listOf, type Refusal, recordOf } from './refusal.ts';

const known = new Set(
  `stream model messages tools strict_tools documents citation_options response_format safety_mode
  max_tokens stop_sequences temperature seed frequency_penalty presence_penalty k p logprobs
  tool_choice thinking priority raw_prompting`.split(/\s+/),
);

/**
 * What Cohere's chat refuses: fields that it does not know, words for a choice
 * of tools that are others' and answers in JSON beside tools. Undefined: it
 * would be served. https://docs.cohere.com/reference/chat and
 * https://docs.cohere.com/docs/structured-outputs, November 2026
 */
export function refuseCohere(body: unknown): Refusal | undefined {
  const request = recordOf(body);
  for (const key in request)
    if (!known.has(key)) return refusal(`unknown field: parameter '${key}' is not a valid field`);
  const { tool_choice, response_format, p } = request;
  if (tool_choice !== undefined && tool_choice !== 'REQUIRED' && tool_choice !== 'NONE')
    return refusal(`invalid request: tool_choice must be one of 'REQUIRED' or 'NONE'`);
  const hasTools = listOf(request.tools).length > 0;
  if (tool_choice !== undefined && !hasTools)
    return refusal('invalid request: tool_choice requires tools to be specified');
  const format = recordOf(response_format);
  if (format.type === 'json_object' && hasTools)
    return refusal('invalid request: response_format is not supported with tools');
  if (
    format.json_schema !== undefined &&
    listOf(recordOf(format.json_schema).required).length === 0
  )
    return refusal('invalid request: schema must have at least one required field');
  const thinks = /command-a-(?:reasoning|plus)/.test(String(request.model));
  const holdsThought = listOf(request.messages)
    .flatMap((message) => listOf(recordOf(message).content))
    .some((part) => recordOf(part).type === 'thinking');
  if (holdsThought && !thinks)
    return refusal(`invalid request: thinking is not supported for model '${request.model}'`);
  if (typeof p === 'number' && (p < 0.01 || p > 0.99))
    return refusal('invalid request: p must be between 0.01 and 0.99 inclusive.');
  for (const [name, most] of [
    ['frequency_penalty', 1],
    ['presence_penalty', 1],
    ['k', 500],
  ] as const) {
    const value = request[name];
    if (typeof value === 'number' && (value < 0 || value > most))
      return refusal(`invalid request: ${name} must be between 0 and ${most} inclusive.`);
  }
  return undefined;
}

function refusal(message: string): Refusal {
  return { status: 400, body: { id: 'refused', message } };
}
