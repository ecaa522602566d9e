import { GatewayError } from '@sluice/errors';
import { eventHooks } from '../../compiled/event-hooks.ts';
import type { Guardrails } from '../../guardrails/guardrails.ts';
import type { AgentProtocol } from '../agent-plan.ts';
import type { AgentExchange } from '../find-agent.ts';
import { AgentGuard } from './agent-guard.ts';

/** Which guardrails look at messages to agents: those that organisation and workspace enforce. Callers have no say in it. */
export class AgentGuards {
  readonly #guardrails: Guardrails;

  constructor(guardrails: Guardrails) {
    this.#guardrails = guardrails;
  }

  /**
   * What looks at this request and its answer; undefined = nothing does.
   * @throws GatewayError `guardrail.not_in_force` where one of them cannot be run
   */
  of(exchange: AgentExchange, protocol: AgentProtocol): AgentGuard | undefined {
    const enforced = exchange.bundle?.enforced;
    if (enforced === undefined) return undefined;
    const [missing] = enforced.missing;
    if (missing !== undefined)
      throw new GatewayError('guardrail.not_in_force', {
        message: `A guardrail that every request must pass cannot be run: ${missing}.`,
      });
    const hooks = eventHooks(enforced);
    return hooks && new AgentGuard(this.#guardrails, hooks, exchange, protocol);
  }
}
