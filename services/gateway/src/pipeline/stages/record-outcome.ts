import { fromUnknown } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import type { UsageRecorder } from '../../usage/usage-recorder.ts';
import type { Stage } from '../pipeline.ts';

/**
 * Outermost, so that every outcome is counted once: a request of a known tenant
 * that ends before any attempt leaves its one record here. Attempts leave their
 * own. Requests without a valid key belong to nobody and are only counted in
 * metrics: strangers must not fill a ledger.
 */
export function recordOutcome(recorder: UsageRecorder, logger: Logger): Stage {
  return async (exchange, next) => {
    try {
      return await next();
    } catch (caught) {
      const error = fromUnknown(caught);
      if (
        exchange.progress.attempts + exchange.progress.refusals === 0 &&
        exchange.bundle !== undefined
      ) {
        try {
          await recorder.refuse(exchange, error);
        } catch (failure) {
          logger.error(
            { err: failure, request_id: exchange.arrival.requestIdText },
            'a usage record could not be stored',
          );
        }
      }
      throw error;
    }
  };
}
