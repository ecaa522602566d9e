import { brokenStreams } from './broken-streams.ts';
import type { Fault } from './fault.ts';
import { noAnswers } from './no-answers.ts';
import { overTime } from './over-time.ts';
import { refusals } from './refusals.ts';
import { upstreamErrors } from './upstream-errors.ts';

/** All scenarios, in the order of the table that `npm run faults` prints. */
export const faults: readonly Fault[] = [
  ...upstreamErrors,
  ...noAnswers,
  ...brokenStreams,
  ...refusals,
  ...overTime,
];
