import { objectOf, parseObject, stringOf } from './json/json-access.ts';

export type FinalFault = 'context-length' | 'content-filter';

/**
 * Why a provider's refusal will be the same however often the same model is
 * asked: the context is too long, or the content was filtered. Undefined: it
 * need not be. Providers say so in `error.code` or `error.type`, compatible
 * ones often only in words.
 *
 * Sources: OpenAI error codes (`context_length_exceeded`,
 * `content_policy_violation`, `moderation_blocked` of images), Azure OpenAI
 * content filtering (`content_filter`, inner `ResponsibleAIPolicyViolation`),
 * Anthropic ("prompt is too long", "Output blocked by content filtering
 * policy"), DashScope (`data_inspection_failed`), DeepSeek ("Content Exists
 * Risk"), llama.cpp (`exceed_context_size_error`), vLLM ("maximum context length").
 */
export function finalFaultOf(status: number, text: string): FinalFault | undefined {
  if (status < 400 || text.length > textLengthMax) return undefined;
  const body = parseObject(text);
  const error = objectOf(body?.error) ?? body;
  if (error === undefined) return undefined;
  const inner = objectOf(error.innererror) ?? objectOf(error.inner_error);
  for (const name of [error.code, error.type, inner?.code]) {
    const fault = typeof name === 'string' ? finalCodes.get(name.toLowerCase()) : undefined;
    if (fault !== undefined) return fault;
  }
  // Words are only trusted where the status says that the request is at fault.
  if (status !== 400 && status !== 413 && status !== 422) return undefined;
  const told = stringOf(error.message) ?? stringOf(body?.error) ?? stringOf(body?.detail) ?? '';
  const message = told.slice(0, 4096);
  if (contentWords.test(message)) return 'content-filter';
  return lengthWords.test(message) ? 'context-length' : undefined;
}

const textLengthMax = 256 * 1024;

const finalCodes: ReadonlyMap<string, FinalFault> = new Map([
  ['context_length_exceeded', 'context-length'],
  ['exceed_context_size_error', 'context-length'],
  ['context_window_exceeded', 'context-length'],
  ['string_above_max_length', 'context-length'],
  ['content_filter', 'content-filter'],
  ['content_policy_violation', 'content-filter'],
  ['responsibleaipolicyviolation', 'content-filter'],
  ['moderation_blocked', 'content-filter'],
  ['data_inspection_failed', 'content-filter'],
]);

const lengthWords =
  /maximum context length|context length (?:is )?exceeded|exceeds? (?:the )?(?:model'?s )?(?:maximum )?context|prompt is too long|input is too long|context window/i;

const contentWords =
  /content management policy|content policy|content filtering policy|safety system|content exists risk/i;
