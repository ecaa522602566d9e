import { GatewayError } from '@sluice/errors';

/** In the statuses that agents' callers expect: 502 for one that is away, 504 for one that is late. */
export function agentFailure(caught: unknown): GatewayError {
  return failureOf(caught, {
    timeout: 'agent.timeout',
    unreachable: 'agent.unreachable',
    who: 'The agent',
  });
}

/** The same of who is called back, which is no fault of the agent that calls. */
export function callbackFailure(caught: unknown): GatewayError {
  return failureOf(caught, {
    timeout: 'agent.callback_timeout',
    unreachable: 'agent.callback_unreachable',
    who: 'The receiver of the callback',
  });
}

interface Words {
  readonly timeout: 'agent.timeout' | 'agent.callback_timeout';
  readonly unreachable: 'agent.unreachable' | 'agent.callback_unreachable';
  /** Who was asked, in the place of a provider. */
  readonly who: string;
}

function failureOf(caught: unknown, { timeout, unreachable, who }: Words): GatewayError {
  if (!(caught instanceof GatewayError)) return new GatewayError('internal', { cause: caught });
  const { code, failureCause, message } = caught;
  if (
    code === 'upstream.timeout' ||
    code === 'upstream.connect_timeout' ||
    code === 'upstream.stream_stalled'
  )
    return new GatewayError(timeout, { cause: caught, failureCause });
  if (
    code === 'upstream.unreachable' ||
    code === 'upstream.reset' ||
    code === 'upstream.stream_cut' ||
    code === 'upstream.invalid_response'
  )
    return new GatewayError(unreachable, {
      cause: caught,
      failureCause,
      message: message.replaceAll('The provider', who),
    });
  return caught;
}
