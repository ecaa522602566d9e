import { checkRemainder, PathFault } from '@sluice/a2a';
import { GatewayError } from '@sluice/errors';
import type { AgentCall } from '../exchange/subject.ts';
import type { AgentPlan } from './agent-plan.ts';

type AskedPath = Pick<AgentCall, 'remainder'>;

/** Before anything of a call is read. @throws GatewayError */
export function expectCallable({ unkept }: AgentPlan, { remainder }: AskedPath): void {
  if (unkept !== undefined)
    throw new GatewayError('agent.misconfigured', {
      message: `This agent cannot be called: ${unkept} is not served.`,
    });
  try {
    checkRemainder(remainder);
  } catch (error) {
    if (!(error instanceof PathFault)) throw error;
    throw new GatewayError('agent.path_invalid', {
      field: 'path',
      message: `The path below the agent ${error.message}.`,
    });
  }
}

const wellKnownCard = /^\/\.well-known\/agent(?:-card)?\.json\/?$/;

/** Whether it is the card that is asked for, by its address. */
export function asksCard(
  { protocol }: AgentPlan,
  method: string | undefined,
  { remainder }: AskedPath,
): boolean {
  const isRead = method === 'GET' || method === 'HEAD' || method === 'POST';
  return protocol === 'a2a' && isRead && wellKnownCard.test(remainder);
}
