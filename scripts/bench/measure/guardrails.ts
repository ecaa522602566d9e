import {
  type NamedCheck,
  personalText,
  plainText,
  threePatterns,
  timeChecks,
} from '../check-cpu.ts';
import type { Figure } from '../figure.ts';
import { savedGuardrails } from '../guarded-workspaces.ts';
import { firstAnswer, type Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import { interleave, median, type Place, runRound, type Workbench } from '../workbench.ts';

/** What guardrails cost: checks by themselves, and whole requests beside those that nothing looks at. */
export async function measureGuardrails(bench: Workbench): Promise<Figure[]> {
  const figures = [
    checkFigure('three patterns, 2 kB', threePatterns, plainText, targets.patternsUs),
    checkFigure('personal data, 2 kB', [['default.pii', {}]], personalText, targets.piiUs),
    checkFigure('injection, 2 kB', [['default.promptInjection', {}]], plainText),
    checkFigure('toxicity, 2 kB', [['default.toxicity', {}]], plainText),
  ];
  for (const subject of bench.subjects)
    if (subject.openGuardedWorkspaces !== undefined)
      figures.push(...(await measureRequests(bench, subject)));
  return figures;
}

function checkFigure(
  name: string,
  checks: readonly NamedCheck[],
  text: string,
  target?: number,
): Figure {
  const rounds = timeChecks(checks, text);
  const figure: Figure = {
    subject: 'checks',
    figure: name,
    unit: 'µs',
    measured: median(rounds),
    rounds,
    note: 'CPU',
  };
  return target === undefined ? figure : { ...figure, judged: 'measured', target };
}

async function measureRequests(bench: Workbench, subject: Subject): Promise<Figure[]> {
  const places = await subject.openGuardedWorkspaces!();
  const kinds = [
    { figure: 'CPU per unary request, no hooks', headers: places.without },
    {
      figure: `CPU per unary request, ${savedGuardrails} saved guardrails, none asked for`,
      headers: places.saved,
      target: targets.unguardedCpuRatio,
    },
    { figure: 'CPU per unary request, three patterns', headers: places.patterns },
    { figure: 'CPU per unary request, personal data in all texts', headers: places.personal },
  ];
  const asked = kinds.map(
    ({ figure, headers }): Place => ({
      name: figure,
      url: subject.url,
      pid: () => subject.pid(),
      headers,
    }),
  );
  const shape = {
    connections: 32,
    requestsMax: bench.quick ? 10_000 : 20_000,
    durationMsMax: 30_000,
  };
  for (const place of asked) {
    await firstAnswer(place.url, place.headers, AbortSignal.timeout(60_000));
    await runRound(bench, place, { ...shape, requestsMax: 3_000 });
  }
  const results = await interleave(bench, asked, bench.quick ? 4 : 10, shape);
  const cpu = results.map((rounds) => rounds.map((round) => round.cpuUsPerRequest));
  const free = cpu[0] ?? [];
  return kinds.map(({ figure, target }, index) => {
    const rounds = cpu[index] ?? [];
    const common: Figure = {
      subject: subject.name,
      figure,
      unit: 'µs',
      measured: median(rounds),
      rounds,
    };
    if (index === 0) return common;
    const compared: Figure = {
      ...common,
      pairedRatio: median(rounds.map((value, round) => value / (free[round] ?? Number.NaN))),
      note: 'beside a request without hooks',
    };
    return target === undefined ? compared : { ...compared, judged: 'ratio', target };
  });
}
