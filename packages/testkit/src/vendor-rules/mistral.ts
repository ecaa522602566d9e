import { type JsonRecord, listOf, type Refusal, recordOf } from './refusal.ts';

const known = new Set(
  `model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools
  tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode
  reasoning_effort guardrails prompt_cache_key safe_prompt`.split(/\s+/),
);

/**
 * What Mistral's chat completions refuse: fields that they do not know, and ids
 * of calls that are not nine letters and digits. Undefined: it would be served.
 * https://docs.mistral.ai/api/endpoint/chat, November 2026
 */
export function refuseMistral(body: unknown): Refusal | undefined {
  const request = recordOf(body);
  for (const key in request)
    if (!known.has(key)) return refusal(['body', key], 'Extra inputs are not permitted');
  for (const [index, value] of listOf(request.messages).entries()) {
    const bad = idsIn(recordOf(value)).find((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id)));
    if (bad !== undefined)
      return refusal(
        ['body', 'messages', String(index)],
        `Tool call id was ${bad} but must be a-z, A-Z, 0-9, with a length of 9.`,
      );
  }
  return undefined;
}

function idsIn({ tool_calls, tool_call_id }: JsonRecord): unknown[] {
  const calls = listOf(tool_calls).map((call) => recordOf(call).id);
  return tool_call_id === undefined ? calls : [...calls, tool_call_id];
}

function refusal(loc: string[], msg: string): Refusal {
  return { status: 422, body: { object: 'error', message: { detail: [{ loc, msg }] } } };
}
