import { createHmac } from 'node:crypto';
import type { HeaderRules } from '../content/segment.ts';
import type { Env } from '../settings.ts';

/** How headers look wherever content is kept or told. */
export function headerRules(env: Env): HeaderRules {
  return {
    sensitive: env.ORGANISATION_HEADERS_TO_MASK ?? [],
    hash: (value) =>
      `hmac-sha256:${createHmac('sha256', env.KEY_PEPPER).update(`header:${value}`).digest('hex')}`,
  };
}
