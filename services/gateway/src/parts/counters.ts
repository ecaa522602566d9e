import { callFault } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { LimitStore } from '../limits/limit-store.ts';
import { CounterReporter } from '../limits/report-counters.ts';
import type { CounterClient } from './counter-client.ts';

export interface CountersParts {
  limits: Pick<LimitStore, 'changedCounters'>;
  client: Pick<CounterClient, 'report'>;
  logger: Logger;
}

/** Tells the control plane how far budgets are; the last time when all requests are over. */
export function countersPart({ limits, client, logger }: CountersParts): Part {
  const reporter = new CounterReporter({
    changedCounters: (max) => limits.changedCounters(max),
    send: (counters) => client.report(counters),
    onError: (error) =>
      logger.warn(callFault(error), 'the control plane was not told how far budgets are'),
  });
  return { name: 'counters', start: () => reporter.start(), stop: () => reporter.stop() };
}
