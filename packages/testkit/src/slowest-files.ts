import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** How many are listed, and from how many files on: whoever runs one file knows which it is. */
const shown = 10;
const filesMin = 20;

/** At the end of a run, the files that took longest: where the next saving is. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const text = slowestText(
      modules.map((module) => ({
        path: relative(process.cwd(), module.moduleId),
        ms: module.diagnostic().duration + module.diagnostic().collectDuration,
      })),
    );
    if (text !== undefined) process.stdout.write(text);
  }
}

/** Undefined of a run that is too small to say anything. */
export function slowestText(files: readonly { path: string; ms: number }[]): string | undefined {
  if (files.length < filesMin) return undefined;
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, shown);
  const lines = slowest.map(({ path, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${path}`);
  return `\nSlowest ${slowest.length} of ${files.length} files:\n${lines.join('\n')}\n`;
}
