import { afterAll, beforeAll, describe, it } from 'vitest';
import { faults } from './faults/index.ts';
import { tableRow } from './faults/table-row.ts';
import { type Lab, startLab } from './lab.ts';

/** `npm run faults` runs this file and prints what each scenario observed as a table. */
let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.stop());

describe.concurrent('faults of upstreams', () => {
  for (const fault of faults)
    it(fault.name, async ({ task }) => {
      const trial = lab.trial();
      try {
        await fault.run(trial, lab);
      } finally {
        task.meta.faultRows = trial.asked.map(tableRow);
        await trial.close();
      }
    });
});
