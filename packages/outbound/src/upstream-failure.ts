import { type ErrorCode, type FailureCause, failureCauses, GatewayError } from '@sluice/errors';

/**
 * What went wrong between us and the upstream, from undici's or the system's
 * code: the one place that knows these codes. Callers are told the kind of
 * cause; which host, address and certificate it was stays with the operator.
 */
export function upstreamFailure(error: unknown, headKnown: boolean): GatewayError {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof GatewayError) return cause;
    if (cause instanceof AggregateError && cause.errors.length > 0)
      return upstreamFailure(mostTelling(cause.errors), headKnown);
    const code = codeOf(cause);
    // Nothing was sent.
    if (code === 'UND_ERR_INVALID_ARG') return unsendable(error);
    const failureCause = causeOf(code, cause.name);
    if (failureCause !== undefined) return failureOf(failureCause, headKnown, error, code);
  }
  return failureOf('closed', headKnown, error);
}

/** A credential, a header or a path that HTTP cannot carry. */
export function unsendable(cause: unknown): GatewayError {
  return new GatewayError('request.invalid_header', {
    message:
      'The path, a header or the credential for the provider has characters that HTTP forbids.',
    cause,
  });
}

/** The reason why a host was not reached, as an error of that name with its own words. */
export function unreachable(
  failureCause: FailureCause,
  options: { cause?: unknown; detail?: Record<string, unknown> } = {},
): GatewayError {
  return new GatewayError('upstream.unreachable', {
    ...options,
    failureCause,
    message: `The provider could not be reached: ${failureCauses[failureCause]}.`,
  });
}

function failureOf(
  failureCause: FailureCause,
  headKnown: boolean,
  cause: unknown,
  code?: string,
): GatewayError {
  const detail = { code };
  if (!(failureCause in lateCauses)) return unreachable(failureCause, { cause, detail });
  const late = lateCauses[failureCause as keyof typeof lateCauses];
  const [errorCode, message] = headKnown ? late.inAnswer : late.before;
  return new GatewayError(errorCode, { message, cause, detail, failureCause });
}

/** What may also happen to a connection that was made: before the answer, and in it. */
const lateCauses = {
  connect_timeout: {
    before: ['upstream.connect_timeout', undefined],
    inAnswer: ['upstream.stream_cut', undefined],
  },
  reset: {
    before: ['upstream.reset', 'The provider reset the connection before it answered.'],
    inAnswer: [
      'upstream.stream_cut',
      'The provider reset the connection before its answer was complete.',
    ],
  },
  closed: {
    before: ['upstream.reset', undefined],
    inAnswer: ['upstream.stream_cut', undefined],
  },
  invalid_response: {
    before: ['upstream.invalid_response', undefined],
    inAnswer: ['upstream.invalid_response', undefined],
  },
} satisfies Partial<
  Record<
    FailureCause,
    Record<'before' | 'inAnswer', readonly [code: ErrorCode, message: string | undefined]>
  >
>;

const causesByCode: Readonly<Record<string, FailureCause>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns_unavailable',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'no_route',
  ENETUNREACH: 'no_route',
  EADDRNOTAVAIL: 'no_route',
  EACCES: 'no_route',
  EPERM: 'no_route',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ETIMEDOUT: 'connect_timeout',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_untrusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_wrong_host',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  EPROTO: 'tls',
};

function causeOf(code: string, name: string): FailureCause | undefined {
  const known = causesByCode[code];
  if (known !== undefined) return known;
  if (code.startsWith('CERT_') || code.startsWith('UNABLE_TO_')) return 'tls_untrusted';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls';
  // undici's parser gives some faults no code.
  if (code.startsWith('HPE_') || name === 'HTTPParserError') return 'invalid_response';
  return undefined;
}

/** Of a host's addresses some may be of a kind that this machine has no way to: that says nothing of the host. */
function mostTelling(errors: readonly unknown[]): unknown {
  return errors.find((error) => causesByCode[codeOf(error)] !== 'no_route') ?? errors[0];
}

function codeOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? '') : '';
}
