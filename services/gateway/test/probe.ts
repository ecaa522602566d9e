import { it } from 'vitest';
import type { Lab, Trial } from './lab.ts';

/** Writes one probe of the gateway's published behaviour as a test, with upstreams of its own. */
export function probesOf(lab: () => Lab) {
  return (
    row: number,
    what: string,
    run: (trial: Trial, lab: Lab) => Promise<void>,
    timeout?: number,
  ): void =>
    it(`#${row} ${what}`, timeout === undefined ? {} : { timeout }, async () => {
      const trial = lab().trial();
      try {
        await run(trial, lab());
      } finally {
        await trial.close();
      }
    });
}
