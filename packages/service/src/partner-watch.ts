import type { HandshakeOptions, ServiceRole } from '@sluice/rpc';
import type { Logger } from '@sluice/telemetry';
import type { Gauge } from './part.ts';

export interface PartnerWatchOptions {
  role: ServiceRole;
  partner: ServiceRole;
  /** Its name. */
  gauge: string;
  logger: Logger;
}

/**
 * What is known of the service that is asked: that it is of a release which this one cannot work with is said once in the log, and in
 * a gauge for as long as it is so. Nothing ends: calls fail as if it were away, and go on when it has been upgraded.
 */
export function createPartnerWatch({ role, partner, gauge, logger }: PartnerWatchOptions) {
  let refusal: string | undefined;
  const handshake: HandshakeOptions = {
    role,
    partner,
    onPartner(found) {
      if (found.refusal !== undefined && found.refusal !== refusal)
        logger.error({ partner, refusal: found.refusal }, 'releases that do not work together');
      else if (found.refusal === undefined && refusal !== undefined)
        logger.info({ partner, ...found.peer }, 'the releases work together again');
      refusal = found.refusal;
    },
  };
  return {
    handshake,
    get isRefused() {
      return refusal !== undefined;
    },
    gauges: (): readonly Gauge[] => [
      {
        name: gauge,
        help: `1 while the ${partner} is of a release that this one does not work with; the log names both`,
        read: () => Number(refusal !== undefined),
      },
    ],
  };
}
