import type { Reporter, TestModule } from 'vitest/node';

/**
 * Names the tests that failed and then passed: each is a race, in the test or in what it
 * tests, and has to be found. For runs with `--retry`, as CI's.
 */
export default class SecondGoes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
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
