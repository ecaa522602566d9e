/**
 * `npm run guardrails:measure`: how well the detectors of `packages/guardrails` find
 * what stands in the labelled lines, and what CPU they take. Prints every line
 * that is judged wrongly; `docs/guardrails.md` has the figures.
 */
import { measureChecks, measurePii, type Quality } from '@sluice/guardrails/labelled';
import {
  type NamedCheck,
  personalText,
  plainText,
  threePatterns,
  timeChecks,
} from './bench/check-cpu.ts';
import { median } from './bench/workbench.ts';

const { qualities, faults } = measurePii();
show(qualities, faults);
const judged = await measureChecks();
show(judged.qualities, judged.faults);

function show(measured: readonly Quality[], wrong: readonly string[]): void {
  console.table(
    measured.map(({ precision, recall, ...counts }) => ({
      ...counts,
      precision: precision.toFixed(2),
      recall: recall.toFixed(2),
    })),
  );
  console.log(wrong.join('\n'));
}

console.table({
  'pii, 2 kB with nothing': cpuMicros([['default.pii', {}]], plainText),
  'pii, 2 kB with three findings': cpuMicros([['default.pii', { redact: true }]], personalText),
  'pii with names and places, 2 kB': cpuMicros(
    [['default.pii', { categories: allCategories() }]],
    personalText,
  ),
  'three patterns, 2 kB': cpuMicros(threePatterns, plainText),
  'prompt injection, 2 kB': cpuMicros([['default.promptInjection', {}]], plainText),
  'toxicity, 2 kB': cpuMicros([['default.toxicity', {}]], plainText),
  'hosts of images, 2 kB': cpuMicros([['default.imageHosts', {}]], plainText),
});

function allCategories(): string[] {
  return qualities.map(({ kind }) => kind);
}

/** CPU, in µs. */
function cpuMicros(checks: readonly NamedCheck[], text: string): number {
  return Math.round(median(timeChecks(checks, text)));
}
