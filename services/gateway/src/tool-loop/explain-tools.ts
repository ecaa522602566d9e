import { fromUnknown } from '@sluice/errors';
import type { ExplainTools } from '../pipeline/explain/explain.ts';
import { explainedFault } from '../pipeline/explain/explanation.ts';
import { askedOfRequest } from './asked-of-request.ts';
import type { RunToolsParts } from './run-tools.ts';

/** Which servers' tools the gateway would run for a request, and whether it may: nobody is asked. */
export function explainTools({
  caller,
  addresses,
}: Pick<RunToolsParts, 'caller' | 'addresses'>): ExplainTools {
  return (exchange) => {
    try {
      const asked = askedOfRequest(exchange, addresses);
      if (asked === undefined) return undefined;
      // As in a request: answers are not looked up.
      exchange.subject.toolRound = 1;
      const judged = asked.servers.map(({ label, meant }) => ({
        label,
        server: meant.server,
        fault: caller.judge(exchange, meant),
      }));
      return {
        shown: judged.map(({ label, server, fault }) => ({
          label,
          server,
          run_by: 'gateway',
          ...(fault !== undefined && { would_fail: explainedFault(fault) }),
        })),
        refusal: judged.find(({ fault }) => fault !== undefined)?.fault,
      };
    } catch (error) {
      return { shown: [], refusal: fromUnknown(error) };
    }
  };
}
