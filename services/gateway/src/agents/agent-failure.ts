import { GatewayError } from '@sluice/errors';

/** In the statuses that agents' callers expect: 502 for one that is away, 504 for one that is late. */
export function agentFailure(caught: unknown): GatewayError {
  if (!(caught instanceof GatewayError)) return new GatewayError('internal', { cause: caught });
  const { code, failureCause, message } = caught;
  if (
    code === 'upstream.timeout' ||
    code === 'upstream.connect_timeout' ||
    code === 'upstream.stream_stalled'
  )
    return new GatewayError('agent.timeout', { cause: caught, failureCause });
  if (
    code === 'upstream.unreachable' ||
    code === 'upstream.reset' ||
    code === 'upstream.stream_cut' ||
    code === 'upstream.invalid_response'
  )
    return new GatewayError('agent.unreachable', {
      cause: caught,
      failureCause,
      message: message.replaceAll('The provider', 'The agent'),
    });
  return caught;
}
