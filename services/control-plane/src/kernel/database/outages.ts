import { type Logger, Outage } from '@sluice/telemetry';
import { isDatabaseAway, isDatabaseBusy } from './faults.ts';

/** What the log says of a Postgres that is not there or silent, and of one that has no room or time for what it is asked. */
export function databaseOutages(logger: Logger, probe: () => Promise<unknown>): readonly Outage[] {
  return [
    new Outage({
      logger,
      away: 'the database is away',
      back: 'the database is back',
      isOutage: isDatabaseAway,
      probe,
    }),
    new Outage({
      logger,
      away: 'the database gives up some of what it is asked',
      back: 'the database does what it is asked again',
      isOutage: isDatabaseBusy,
      quietMs,
    }),
  ];
}

const quietMs = 15_000;
