import type { CheckSubject, InjectionSignal, ParametersOf } from '@sluice/contracts/checks';
import { textsOf } from '@sluice/providers';
import type { CheckContext, CheckFunction, CheckOutcome } from '../check.ts';
import {
  type InjectionVerdict,
  judgeInjection,
  type Speaker,
} from '../injection/judge-injection.ts';
import { lookInSlices } from '../reading/in-slices.ts';
import { requiredSubject } from '../text-check.ts';

type Parameters = ParametersOf<'default.promptInjection'>;

/** Weighs what speaks for an attempt to take the model away from its orders. Only tells, unless a threshold is set. */
export function promptInjection(parameters: Parameters): CheckFunction {
  const sought: ReadonlySet<InjectionSignal> = new Set(parameters.signals);
  return (context) => {
    const texts = spokenTexts(context, parameters.subjects);
    requiredSubject(texts.map(({ text }) => text).join(''));
    return lookInSlices(
      texts,
      (slice, { speaker }) => ({ ...judgeInjection(slice, speaker, sought), speaker }),
      (all) => outcomeOf(all, parameters),
    );
  };
}

interface SpokenText {
  readonly text: string;
  readonly speaker: Speaker;
}

/** What tools answered is judged as theirs, whatever else is looked at. */
function spokenTexts(context: CheckContext, subjects: readonly CheckSubject[]): SpokenText[] {
  const textOf = (some: readonly CheckSubject[]) => {
    if (some.length === 0) return '';
    const { joined, together } = textsOf(context, some);
    const messages = together?.() ?? '';
    return messages === '' ? joined : `${joined}\n${messages}`;
  };
  const isOfTools = subjects.includes('tool_results') || subjects.includes('all');
  const texts: SpokenText[] = [
    { text: textOf(subjects.filter((one) => one !== 'tool_results')), speaker: 'caller' },
    { text: isOfTools ? textOf(['tool_results']) : '', speaker: 'tool' },
  ];
  return texts.filter(({ text }) => text !== '');
}

function outcomeOf(
  all: readonly (InjectionVerdict & { speaker: Speaker })[],
  { threshold, not }: Parameters,
): CheckOutcome {
  const worst = all.reduce((most, one) => (one.score > most.score ? one : most));
  const { score, signals, speaker } = worst;
  const verdict = threshold === undefined || score < threshold !== not;
  const explanation =
    score === 0
      ? 'Nothing speaks for an attack.'
      : `${Object.keys(signals).join(', ')} ${speaker === 'tool' ? 'in what a tool answered ' : ''}make a score of ${score}.`;
  return {
    verdict,
    data: {
      verdict,
      not,
      explanation,
      score,
      signals: { ...signals },
      threshold: threshold ?? null,
    },
  };
}
