import { type Logger, Outage } from '@sluice/telemetry';
import { isDatabaseAway, isDatabaseBusy, isDatabaseReadOnly } from './faults.ts';

/** What the log says of a Postgres that is not there or silent, of one that has no room or time for what it is asked, and of one that only reads. */
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
    new Outage({
      logger,
      away: 'the database takes no changes: it only reads',
      back: 'the database refused no change for a while',
      isOutage: isDatabaseReadOnly,
      quietMs,
    }),
  ];
}

const quietMs = 15_000;
