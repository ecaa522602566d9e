/**
 * `npm run check`: everything that can be said about the code without running
 * it. One line a check; what is wrong follows below it.
 */
import { checks } from './check/checks.ts';

let failed = 0;
for (const check of checks) {
  const startedAt = performance.now();
  const fault = await check.run();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${fault === '' ? 'ok    ' : 'FAILED'} ${check.name} (${seconds} s)`);
  if (fault !== '') {
    failed += 1;
    console.log(fault.replaceAll(/^/gm, '       '));
  }
}
console.log(
  failed === 0
    ? `All ${checks.length} checks passed.`
    : `${failed} of ${checks.length} checks failed.`,
);
process.exit(failed === 0 ? 0 : 1);
