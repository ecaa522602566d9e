import { objectOf, parseObject, stringOf } from './json/json-access.ts';

/**
 * Whether a provider's refusal will be the same however often the same model is
 * asked: the context is too long, or the content was filtered. Providers say so
 * in `error.code` or `error.type`, compatible ones often only in words.
 *
 * Sources: OpenAI error codes (`context_length_exceeded`,
 * `content_policy_violation`), Azure OpenAI content filtering (`content_filter`,
 * inner `ResponsibleAIPolicyViolation`), Anthropic ("prompt is too long"),
 * llama.cpp (`exceed_context_size_error`), vLLM ("maximum context length").
 */
export function isFinalFault(status: number, text: string): boolean {
  if (status < 400 || text.length > textLengthMax) return false;
  const body = parseObject(text);
  const error = objectOf(body?.error) ?? body;
  if (error === undefined) return false;
  const inner = objectOf(error.innererror) ?? objectOf(error.inner_error);
  for (const name of [error.code, error.type, inner?.code])
    if (typeof name === 'string' && finalCodes.has(name.toLowerCase())) return true;
  // Words are only trusted where the status says that the request is at fault.
  if (status !== 400 && status !== 413 && status !== 422) return false;
  const message = stringOf(error.message) ?? stringOf(body?.error) ?? stringOf(body?.detail) ?? '';
  return finalWords.test(message.slice(0, 4096));
}

const textLengthMax = 256 * 1024;

const finalCodes: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'context_window_exceeded',
  'string_above_max_length',
  'content_filter',
  'content_policy_violation',
  'responsibleaipolicyviolation',
]);

const finalWords =
  /maximum context length|context length (?:is )?exceeded|exceeds? (?:the )?(?:model'?s )?(?:maximum )?context|prompt is too long|input is too long|context window|content management policy|content policy|safety system/i;
