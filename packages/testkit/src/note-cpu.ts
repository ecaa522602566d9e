import { afterAll } from 'vitest';
import { cpuOfTree, type ProcessCpu } from './cpu-of-tree.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Of a file: what its worker took, its modules included, and what it started. */
    cpu?: ProcessCpu;
  }
}

/** Vitest's set-up of each file: notes the CPU that it takes, for the list at the end of the run. */
const before = cpuOfTree(process.pid);

// What was given first runs last: the file has stopped by then what it started.
// biome-ignore lint/correctness/noEmptyPattern: the runner reads from it that no fixture is wanted.
afterAll(({}, { file }) => {
  const after = cpuOfTree(process.pid);
  if (before === undefined || after === undefined) return;
  file.meta.cpu = {
    ownMs: after.ownMs - before.ownMs,
    startedMs: after.startedMs - before.startedMs,
  };
});
