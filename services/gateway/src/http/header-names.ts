import type { IncomingHttpHeaders } from 'node:http';
import {
  canonicalHeaders,
  canonicalPrefix,
  type HeaderPrefixes,
  type HeaderSpelling,
  spelledText,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';

/** Enforced guardrails travel under these names inside; nobody may send them to us. */
const internalNames = ['default-input-guardrails', 'default-output-guardrails'].map(
  (name) => `${canonicalPrefix}${name}`,
);

/**
 * A request's headers as all code behind the edge knows them: ours under
 * `x-service-…`, whichever prefix the caller used, and none that are only for
 * inside. Costs two look-ups where no other prefix is set.
 */
export function arrivedHeaders(
  prefixes: HeaderPrefixes,
  headers: IncomingHttpHeaders,
): IncomingHttpHeaders {
  const known = canonicalHeaders(prefixes, headers);
  for (const name of internalNames) if (known[name] !== undefined) delete known[name];
  return known;
}

/** An error that names our headers as the caller spells them. */
export function spelledError(error: GatewayError, spelling: HeaderSpelling): GatewayError {
  if (spelling.named === canonicalPrefix) return error;
  const spelled = (text: string) => spelledText(spelling, text);
  return new GatewayError(error.code, {
    message: spelled(error.message),
    field: error.field === undefined ? undefined : spelled(error.field),
    faults: error.faults?.map(spelled),
    type: error.type,
    vendor: error.vendor,
    detail: error.detail,
    status: error.status,
    headers: error.headers,
    cause: error.cause,
  });
}
