/**
 * `npm run times`: the tests that know time, at ten instants at which dates go
 * wrong. Nine minutes on two quiet cores; with numbers (`npm run times -- 1 6`) only those instants.
 */
import { instants, suites } from './instants.ts';
import { runAt } from './run-at.ts';

const wanted = new Set(process.argv.slice(2).map(Number));
let failed = 0;
for (const [index, instant] of instants.entries()) {
  if (wanted.size > 0 && !wanted.has(index + 1)) continue;
  const { passed, output } = runAt(instant, suites);
  const count = /Tests.*?(\d+) passed/.exec(output)?.[1] ?? 'no';
  const title = `${String(index + 1).padStart(2)}  ${instant.at.toISOString()}  ${instant.zone}  ${instant.name}`;
  console.log(`${passed ? 'ok    ' : 'FAILED'} ${title}: ${count} tests passed`);
  if (passed) continue;
  failed += 1;
  console.log(output);
}
process.exit(failed === 0 ? 0 : 1);
