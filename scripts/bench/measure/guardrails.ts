import {
  type NamedCheck,
  personalText,
  plainText,
  threePatterns,
  timeChecks,
} from '../check-cpu.ts';
import type { Figure } from '../figure.ts';
import { savedGuardrails } from '../guarded-workspaces.ts';
import type { Subject } from '../subject.ts';
import { targets } from '../targets.ts';
import { median, type Workbench } from '../workbench.ts';
import { compareKinds } from './compare-kinds.ts';

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
    {
      figure: 'CPU per unary request, three patterns, saved guardrails with feedback',
      headers: places.savedPatterns,
    },
    { figure: 'CPU per unary request, personal data in all texts', headers: places.personal },
  ];
  const figures = await compareKinds(bench, subject, kinds, 'beside a request without hooks');
  const [free, , patterns, , personal] = figures;
  return [
    ...figures,
    addedFigure('three patterns, added to a request', targets.patternsUs, free, patterns),
    addedFigure('personal data, added to a request', targets.piiUs, free, personal),
  ];
}

/** What looking costs with all that it leaves: in the answer, the log and the record. */
function addedFigure(name: string, target: number, free?: Figure, looked?: Figure): Figure {
  const rounds = (looked?.rounds ?? []).map(
    (us, round) => us - (free?.rounds?.[round] ?? Number.NaN),
  );
  return {
    subject: looked?.subject ?? '',
    figure: name,
    unit: 'µs',
    measured: median(rounds),
    rounds,
    judged: 'measured',
    target,
    note: 'CPU',
  };
}
