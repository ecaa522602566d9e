import { status } from '@grpc/grpc-js';

/** The part of a grpc-js `ServiceError` that tells why nobody answered. */
export interface FailedCall {
  readonly code?: number | undefined;
  readonly details?: string | undefined;
  readonly message?: string | undefined;
}

/** What grpc-js 1.14 and the TLS of Node 24 write, and what it means to whoever set the two services up. The first that fits. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/name resolution failed|ENOTFOUND|EAI_AGAIN/i, 'its name cannot be resolved'],
  [/ECONNREFUSED/, 'nothing listens there: the connection was refused'],
  [/EHOSTUNREACH|ENETUNREACH/, 'no network leads there'],
  [/ETIMEDOUT|deadline exceeded|said nothing/i, 'it does not answer'],
  [
    /wrong version number|packet length too long|http request/i,
    'it does not speak TLS, and this service does (TLS_CA_PATH, TLS_CA)',
  ],
  [
    /certificate required|handshake failure|bad certificate|alert unknown ca/i,
    'it wants a certificate of an authority that it knows (TLS_CERT_PATH, TLS_KEY_PATH)',
  ],
  [/altname/i, 'its certificate is for another name than the address has'],
  [/certificate has expired|not yet valid/i, 'its certificate is not valid at this time'],
  [
    /self-signed|unable to (verify|get)|certificate/i,
    'its certificate is not of an authority that this service knows (TLS_CA_PATH, TLS_CA)',
  ],
  [/HTTP status code|content-type/i, 'something else than a service of ours listens there'],
];
const closedAtOnce =
  /failed to connect|protocol error|ECONNRESET|EPIPE|dropped|hang up|disconnect/i;

/**
 * Why a service did not answer, in words for who runs it, without times and addresses: the same cause gives the same words.
 * @param speaksAsWeDo  with TLS, or without it, as has been seen, or as TLS itself would say
 */
export function whyUnreachable(error: FailedCall, speaksAsWeDo: boolean): string {
  const said = error.details ?? error.message ?? '';
  if (error.code === status.UNAUTHENTICATED)
    return 'it refuses the token: SERVICE_CLIENT_AUTH is not the same at both';
  if (error.code === status.FAILED_PRECONDITION && said !== '') return said;
  for (const [pattern, meaning] of meanings) if (pattern.test(said)) return meaning;
  if (closedAtOnce.test(said))
    return speaksAsWeDo
      ? 'it closes the connection at once'
      : 'it closes the connection at once: it may speak TLS, and this service does not (TLS_CA_PATH, TLS_CA)';
  if (error.code === status.DEADLINE_EXCEEDED) return 'it does not answer';
  return (
    said.replace(/\s*\(?\d{4}-\d\d-\d\dT[\d:.]+Z\)?/g, '').slice(0, 300) || 'it does not answer'
  );
}
