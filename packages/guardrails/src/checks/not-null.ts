import type { ParametersOf } from '@sluice/contracts/checks';
import { arrayOf, objectOf, textsOf } from '@sluice/providers';
import type { CheckContext, CheckFunction, CheckOutcome } from '../check.ts';
import { excerpt } from '../text-check.ts';

/** A message that calls tools needs no text: there is nothing to judge, and it passes. */
export function notNull({ not }: ParametersOf<'default.notNull'>): CheckFunction {
  return (context): CheckOutcome => {
    if (callsTools(context))
      return {
        verdict: true,
        data: { verdict: true, not, skipped: true, explanation: 'The message calls tools.' },
      };
    const text = textsOf(context).joined;
    const verdict = (text !== '') !== not;
    return {
      verdict,
      data: {
        verdict,
        not,
        explanation: text === '' ? 'The content is empty.' : 'The content is not empty.',
        textExcerpt: excerpt(text),
      },
    };
  };
}

function callsTools({ event, endpoint, request, response }: CheckContext): boolean {
  if (endpoint === 'createModelResponse') {
    const items = event === 'beforeRequest' ? [arrayOf(request.input)?.at(-1)] : response?.output;
    return arrayOf(items)?.some((item) => /_call$/.test(String(objectOf(item)?.type))) ?? false;
  }
  const message =
    event === 'beforeRequest'
      ? objectOf(arrayOf(request.messages)?.at(-1))
      : endpoint === 'messages'
        ? response
        : objectOf(objectOf(arrayOf(response?.choices)?.[0])?.message);
  if (message === undefined) return false;
  if ((arrayOf(message.tool_calls)?.length ?? 0) > 0) return true;
  if (objectOf(message.function_call) !== undefined) return true;
  return (
    arrayOf(message.content)?.some((block) => /tool_use$/.test(String(objectOf(block)?.type))) ??
    false
  );
}
