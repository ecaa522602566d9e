import { GatewayError } from '@sluice/errors';

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
]);

/** What went wrong between us and the upstream, from undici's or the system's code. */
export function upstreamFailure(error: unknown, headKnown: boolean): GatewayError {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof GatewayError) return cause;
    if (cause instanceof AggregateError && cause.errors.length > 0)
      return upstreamFailure(cause.errors[0], headKnown);
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    // A credential, a header or a path that HTTP cannot carry: nothing was sent.
    if (code === 'UND_ERR_INVALID_ARG')
      return new GatewayError('request.invalid_header', {
        message:
          'The path, a header or the credential for the provider has characters that HTTP forbids.',
        cause: error,
      });
    if (unreachable.has(code))
      return new GatewayError('upstream.unreachable', { cause: error, detail: { code } });
    if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
      return new GatewayError('upstream.connect_timeout', { cause: error });
    // undici's parser gives some faults no code.
    if (code.startsWith('HPE_') || cause.name === 'HTTPParserError')
      return new GatewayError('upstream.invalid_response', { cause: error, detail: { code } });
    if (
      code === 'ERR_TLS_CERT_ALTNAME_INVALID' ||
      code.startsWith('CERT_') ||
      code.includes('SELF_SIGNED') ||
      code.startsWith('UNABLE_TO_')
    )
      return new GatewayError('upstream.unreachable', {
        message: 'The provider’s certificate is not trusted.',
        cause: error,
        detail: { code },
      });
  }
  return new GatewayError(headKnown ? 'upstream.stream_cut' : 'upstream.reset', { cause: error });
}
