/** Headers of a caller that a check may send on to the host it asks. */

/** Credentials, what speaks for the machine to its cloud, and what belongs to one connection. */
const refused: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  // Of the metadata services of clouds.
  'metadata',
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-aws-ec2-metadata-token-ttl-seconds',
  'x-google-metadata-request',
  'x-identity-header',
  // Of one connection, or of one body.
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'content-encoding',
  'expect',
]);

/** Of ours, which else say who asks and with what. */
const passingOurs: ReadonlySet<string> = new Set(['x-service-trace-id', 'x-service-span-id']);

/** Why a header cannot be forwarded; undefined = it can. */
export function forwardedHeaderFault(name: string): string | undefined {
  if (!/^[a-z0-9-]{1,128}$/.test(name)) return 'must be the name of a header, in lower case';
  if (refused.has(name)) return 'may not be forwarded';
  if (name.startsWith('x-service-') && !passingOurs.has(name)) return 'may not be forwarded';
  return undefined;
}
