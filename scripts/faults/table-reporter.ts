import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Prints what the fault suite observed as a table (`npm run faults`). The cells
 * come from the tests: each leaves its rows in its task's meta. Ends with an
 * error code when not all scenarios held.
 */
export default class TableReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const cases = modules.flatMap((module) => [...module.children.allTests()]);
    const lines = [header, ...cases.flatMap(linesOf)];
    const widths = header.map((_, column) =>
      Math.max(...lines.map((line) => line[column]?.length ?? 0)),
    );
    for (const line of lines) print(line.map((cell, at) => cell.padEnd(widths[at] ?? 0)));
    for (const module of modules)
      for (const error of module.errors()) print([String(error.message)]);
    for (const failed of cases.filter((test) => !hasPassed(test))) {
      print([`\n${failed.name}`]);
      for (const error of failed.result().errors ?? [])
        print([error.stack ?? error.message, error.diff ?? '']);
    }
    for (const error of unhandled) print([String((error as Error).stack ?? error)]);
    const passed = cases.filter(hasPassed).length;
    print([`\n${passed} of ${scenarios}`]);
    if (passed !== scenarios) process.exitCode = 1;
  }
}

/** So many the suite promises; one that was left out must not go unnoticed. */
const scenarios = 16;
const header = ['scenario', 'caller sees', 'upstream calls', 'records', 'ok'];

interface Row {
  label: string;
  caller: string;
  upstreamCalls: string;
  records: string;
}

function linesOf(test: TestCase): string[][] {
  const rows = (test.meta() as { faultRows?: Row[] }).faultRows ?? [];
  const ok = hasPassed(test) ? 'yes' : 'NO';
  if (rows.length === 0) return [[test.name, '', '', '', ok]];
  return rows.map((row, at) => {
    const label = row.label === '' ? '' : `  ${row.label}`;
    const name = at === 0 ? `${test.name}${label === '' ? '' : `:${label.slice(1)}`}` : label;
    return [name, row.caller, row.upstreamCalls, row.records, at === 0 ? ok : ''];
  });
}

function hasPassed(test: TestCase): boolean {
  return test.result().state === 'passed';
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
}
