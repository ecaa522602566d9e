import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** More failed files than this are no race. */
const filesMax = 5;

/**
 * Names the tests that failed and then passed: each is a race, in the test or in what it
 * tests, and has to be found. For runs with `--retry`, as CI's. Files in which a test failed at all of its goes are
 * written to `SLUICE_FAILED_FILES`, one a line, for a run of their own; none where something else failed as well.
 */
export default class SecondGoes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const failed = modules.filter((module) => !module.ok());
    const path = process.env.SLUICE_FAILED_FILES;
    if (path !== undefined && unhandledErrors.length === 0 && failed.length <= filesMax)
      writeFileSync(path, failed.map(({ relativeModuleId }) => `${relativeModuleId}\n`).join(''));
    const named = modules.flatMap((module) => secondGoesOf(module));
    if (named.length === 0) return;
    const lines = [
      `Passed at a second or third go, ${named.length}:`,
      ...named.map((name) => `  ${name}`),
    ];
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}

function secondGoesOf(module: TestModule): string[] {
  const flaky = [...module.children.allTests()].filter((test) => test.diagnostic()?.flaky);
  return flaky.map((test) => {
    const fault = test.result().errors?.[0]?.message.split('\n', 1)[0] ?? '';
    const goes = (test.diagnostic()?.retryCount ?? 0) + 1;
    return `${module.relativeModuleId} > ${test.fullName} (go ${goes}): ${fault}`;
  });
}
