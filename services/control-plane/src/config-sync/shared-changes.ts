import type { BundleChange, Known, Revision } from './read-change.ts';

type Reading = Promise<BundleChange | undefined>;

/** Gateways that hold a workspace ask within moments of each other. */
const keptMs = 2_000;
/** Beside those under way, of which all are shared. */
const keptMax = 100;

/** A change that many gateways ask for at once is read once. */
export class SharedChanges {
  readonly #readings = new Map<string, Reading>();

  /** @param now what is in force: a change that was read before another one is not the answer. */
  read(known: Known, now: Revision, read: () => Reading): Reading {
    const key = JSON.stringify([
      known.workspaceId,
      known.knownStamp,
      Object.entries(known.knownFormats).sort(),
      now.stamp,
    ]);
    const shared = this.#readings.get(key);
    if (shared !== undefined) return shared;
    const reading = read();
    this.#readings.set(key, reading);
    const forget = () => this.#readings.delete(key);
    reading.then((change) => {
      // What starts over is too large to be kept: those who asked meanwhile have it.
      const isLarge = change === undefined || change.heads !== undefined;
      if (isLarge || this.#readings.size > keptMax) forget();
      else setTimeout(forget, keptMs).unref();
    }, forget);
    return reading;
  }
}
