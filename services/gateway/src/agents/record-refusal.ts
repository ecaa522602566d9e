import { fromUnknown } from '@sluice/errors';
import { agentEvent } from '../exchange/event.ts';
import type { CallMeter } from '../metering/call-meter.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { expectAgentCall } from './find-agent.ts';

/** Inside authentication: what ends before its call has begun leaves its one record here. Calls leave their own. */
export function recordRefusal(meter: CallMeter): Stage {
  return async (exchange, next) => {
    expectAgentCall(exchange);
    const { subject, arrival } = exchange;
    try {
      return await next();
    } catch (caught) {
      if (!subject.isBegun) {
        const { source } = subject.server ?? {};
        const server = {
          id: source?.id ?? '',
          slug: source?.slug ?? subject.reference.slice(0, 128),
        };
        const event =
          subject.event ?? agentEvent({ server, method: `${arrival.method} ${subject.remainder}` });
        await meter.refuse(exchange, event, fromUnknown(caught));
      }
      throw caught;
    }
  };
}
