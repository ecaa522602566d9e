import type { JsonObject } from '@sluice/contracts';
import type { PastRequest } from '@sluice/engine';
import type { ShownContent } from '../ledger/logs/read-content.ts';

/** The request with the body and the headers that were kept of it, as far as whoever asks may see them. */
export function withContent(past: PastRequest, { request }: ShownContent): PastRequest {
  if (request === undefined) return past;
  const { body } = request;
  const isWhole = typeof body === 'object' && body !== null && !Array.isArray(body);
  const headers: Record<string, string> = {};
  const withheld = new Set<string>();
  for (const [name, value] of Object.entries({ ...request.headers, ...request.serviceHeaders }))
    if (value === masked || value.startsWith(hashed)) withheld.add(name.toLowerCase());
    else headers[name.toLowerCase()] = value;
  return {
    ...past,
    facts: {
      ...past.facts,
      ...(isWhole && { params: body as JsonObject }),
      headers,
    },
    knowsParams: isWhole,
    knowsHeaders: true,
    withheldHeaders: withheld,
    provider: past.provider ?? headers['x-service-provider'],
  };
}

/** How values are kept that nobody may read, and those that are told apart only. */
const masked = '[masked]';
const hashed = 'hmac-sha256:';
