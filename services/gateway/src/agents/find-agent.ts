import { GatewayError } from '@sluice/errors';
import type { CompiledAgentServer } from '../compiled/agent-servers.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { AgentCall } from '../exchange/subject.ts';
import { lookAgain } from '../held/look-again.ts';
import type { NewerBundles } from '../held/newer-bundles.ts';
import type { Stage } from '../pipeline/pipeline.ts';

export interface AgentExchange extends Exchange {
  subject: AgentCall;
}

/** @throws when the request is none to an agent: its pipeline has a stage of another's */
export function expectAgentCall(exchange: Exchange): asserts exchange is AgentExchange {
  const { kind } = exchange.subject;
  if (kind !== 'agent-call') throw new Error(`a stage of agent calls was given a ${kind}`);
}

/**
 * Given a base address without the slash at its end, clients look for the card
 * beside it: https://github.com/a2aproject/a2a-js, `DefaultAgentCardResolver`.
 */
export const refuseMisplacedCard: Stage = (exchange, next) => {
  expectAgentCall(exchange);
  if (exchange.subject.reference === '.well-known')
    throw new GatewayError('agent.not_found', {
      field: 'path',
      message:
        'No agent is named here. An agent’s card is at /v1/agent/{slug}/.well-known/agent-card.json: the base address of a client ends in a slash, /v1/agent/{slug}/.',
    });
  return next();
};

/** The agent server that the path names, where the caller may use it. */
export function findAgent(newer: Pick<NewerBundles, 'after'>): Stage {
  const find = (exchange: AgentExchange) => {
    const { bundle, key, subject } = exchange;
    if (bundle === undefined || key === undefined)
      throw new Error('findAgent runs after authenticate');
    const server = bundle.agentServer(subject.reference);
    if (server === undefined)
      throw new GatewayError('agent.not_found', {
        field: 'path',
        message: `No agent server "${subject.reference.slice(0, 80)}" exists in this workspace.`,
      });
    subject.server = server;
    const refused = refusalOf(server, key);
    if (refused !== undefined) throw new GatewayError('agent.forbidden', { message: refused });
  };
  return (exchange, next) => {
    expectAgentCall(exchange);
    try {
      find(exchange);
    } catch (error) {
      return lookAgain(exchange, newer, error, () => find(exchange)).then(next);
    }
    return next();
  };
}

/** Why this caller may not use a server at all; undefined = they may. */
function refusalOf({ source }: CompiledAgentServer, key: ResolvedKey): string | undefined {
  if (!source.enabled) return 'This agent is switched off.';
  const { userId } = key.source;
  const isAllowed = (userId === '' ? undefined : source.userAccess[userId]) ?? source.usersAllowed;
  return isAllowed ? undefined : 'You have no access to this agent.';
}
