import type { Texts } from '@sluice/providers';
import type { CheckContext, CheckOutcome } from './check.ts';

/** The document of the event with other texts: how a check redacts. One for each part; null keeps it. */
export function replaced(
  { event }: Pick<CheckContext, 'event'>,
  texts: Texts,
  parts: readonly (string | null)[],
): Pick<CheckOutcome, 'request' | 'response'> {
  if (parts.every((part) => part === null)) return {};
  const document = texts.replace(parts);
  return event === 'beforeRequest' ? { request: document } : { response: document };
}
