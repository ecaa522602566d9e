import type { JsonObject } from '@sluice/contracts';
import { objectOf } from '../json/json-access.ts';

/**
 * The service tier of a response that OpenAI may take hours for, `background-2h` or `background-8h`; its
 * reply is of the standard tier, and does not repeat what was asked.
 * https://developers.openai.com/api/docs/guides/background, November 2026
 */
export function backgroundTierOf({
  background,
  background_options: options,
}: Readonly<JsonObject>): string | undefined {
  const window = objectOf(options)?.completion_window;
  return background === true && (window === '2h' || window === '8h')
    ? `background-${window}`
    : undefined;
}
