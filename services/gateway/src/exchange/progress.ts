/** Why a request went no further although its config would have. */
export type RoutingStop = 'attempts' | 'time';

/** How much was tried for one request so far, over all its targets. */
export class Progress {
  /** Calls that have begun: 0 = the request never got so far. */
  attempts = 0;
  /** Targets refused before they were called, each with a record of its own. */
  refusals = 0;
  /** Calls, refused targets and kept answers: what the bounds of a request count. */
  tries = 0;
  /** Waited because providers asked to. */
  waitedMs = 0;
  /** Why no more was tried, although the config says more. */
  stoppedBy: RoutingStop | undefined = undefined;
}
