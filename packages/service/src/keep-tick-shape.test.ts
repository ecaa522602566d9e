import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** CPU of one tick in a process of its own, in ns, after collections that found none: of eight rounds one in the middle. */
function tickNs(keeps: boolean): number {
  const file = join(import.meta.dirname, 'keep-tick-shape.ts');
  const script = `
    import { setTimeout as delay } from 'node:timers/promises';
    if (${keeps}) (await import(${JSON.stringify(file)})).keepTickShape();
    const ticks = 100_000;
    const round = () => new Promise((resolve) => {
      let left = ticks;
      const begun = process.threadCpuUsage();
      const next = () => {
        if (left-- > 0) process.nextTick(next);
        else resolve((process.threadCpuUsage(begun).user * 1000) / ticks);
      };
      setImmediate(next);
    });
    for (let warm = 0; warm < 4; warm++) await round();
    for (let collected = 0; collected < 8; collected++) {
      gc();
      await delay(5);
    }
    const rounds = [];
    for (let each = 0; each < 8; each++) rounds.push(await round());
    console.log(rounds.sort((one, other) => one - other)[3]);
  `;
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning', '--input-type=module'];
  return Number(execFileSync(process.execPath, [...flags, '--eval', script], { encoding: 'utf8' }));
}

it('leaves ticks as cheap as they were before the old generation was collected', () => {
  expect(tickNs(true)).toBeLessThan(tickNs(false) / 2);
});
