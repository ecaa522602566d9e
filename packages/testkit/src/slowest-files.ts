import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { cpuOfTree, type ProcessCpu } from './cpu-of-tree.ts';
import type {} from './note-cpu.ts';

/** How many are listed, and from how many files on: whoever runs one file knows which it is. */
const shown = 10;
const filesMin = 20;

/** What a file took. */
export interface FileCost {
  readonly path: string;
  readonly ms: number;
  /** Undefined where it cannot be told. */
  readonly cpu: ProcessCpu | undefined;
}

/** At the end of a run, the files that took most CPU, or most time where CPU cannot be told: where the next saving is. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      path: relative(process.cwd(), module.moduleId),
      ms: module.diagnostic().duration + module.diagnostic().collectDuration,
      cpu: module.meta().cpu,
    }));
    const text = slowestText(files, cpuOfTree(process.pid)?.ownMs);
    if (text !== undefined) process.stdout.write(text);
  }
}

/**
 * Undefined of a run that is too small to say anything.
 * @param runnerMs CPU of the runner itself
 */
export function slowestText(
  files: readonly FileCost[],
  runnerMs: number | undefined,
): string | undefined {
  if (files.length < filesMin) return undefined;
  const slowest = files.toSorted((a, b) => costOf(b) - costOf(a)).slice(0, shown);
  const lines = slowest.map(
    ({ path, ms, cpu }) =>
      `${seconds(cpu?.ownMs)}${seconds(cpu?.startedMs)}${seconds(ms)}  ${path}`,
  );
  const sum = (of: (cpu: ProcessCpu) => number) =>
    files.reduce((ms, { cpu }) => ms + (cpu === undefined ? 0 : of(cpu)), 0);
  return `
Slowest ${slowest.length} of ${files.length} files, in seconds of CPU of the worker, of what it started, and by the clock:
${lines.join('\n')}
${seconds(sum(({ ownMs }) => ownMs))}${seconds(sum(({ startedMs }) => startedMs))}          all files; the runner ${seconds(runnerMs).trim()}
`;
}

function seconds(ms: number | undefined): string {
  return (ms === undefined ? '-' : (ms / 1000).toFixed(1)).padStart(8);
}

function costOf({ ms, cpu }: FileCost): number {
  return cpu === undefined ? ms : cpu.ownMs + cpu.startedMs;
}
