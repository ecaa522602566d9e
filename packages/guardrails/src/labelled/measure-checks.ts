import { toxicCategories } from '@sluice/contracts/checks';
import { judgeInjection, type Speaker } from '../injection/judge-injection.ts';
import { languageThread } from '../language/language-thread.ts';
import { isNonsense } from '../language/nonsense.ts';
import { spokenPieces } from '../language/spoken-pieces.ts';
import { TermFinder } from '../terms/find-terms.ts';
import { gibberish, sense } from './gibberish-lines.ts';
import { attacks, harmless, toolAttacks, toolHarmless } from './injection-lines.ts';
import { languageLines, languageless } from './language-lines.ts';
import type { Quality } from './measure.ts';
import { decent, toxic } from './toxic-lines.ts';

export interface CheckMeasure {
  /** Each check twice: on the lines that rules were made by, and on those held out. */
  readonly qualities: readonly Quality[];
  /** Lines that are judged wrongly; those held out are not told, or they would not stay so. */
  readonly faults: readonly string[];
}

/** A line with what is to be found in it; undefined where nothing is. */
type Labelled<Label> = readonly [text: string, label: Label | undefined];

/** Precision and recall of the checks that judge whole texts. */
export async function measureChecks(): Promise<CheckMeasure> {
  const injection = (speaker: Speaker) => (text: string) =>
    judgeInjection(text, speaker).score >= injectionThreshold ? true : undefined;
  const finder = new TermFinder([], toxicCategories, []);
  const isToxic = (text: string) => (Object.keys(finder.count(text)).length > 0 ? true : undefined);
  const found = (lines: readonly string[]) => lines.map((text) => [text, true] as const);
  const nothing = (lines: readonly string[]) => lines.map((text) => [text, undefined] as const);
  const measures = [
    measure('injection, callers', [...found(attacks), ...nothing(harmless)], injection('caller')),
    measure(
      'injection, tools',
      [...found(toolAttacks), ...nothing(toolHarmless)],
      injection('tool'),
    ),
    measure(
      'toxicity',
      [...toxic.map(([, text]) => [text, true] as const), ...nothing(decent)],
      isToxic,
    ),
    measure<string>(
      'language',
      [...languageLines.map(([code, text]) => [text, code] as const), ...nothing(languageless)],
      languageOf,
    ),
    measure('gibberish', [...found(gibberish), ...nothing(sense)], isGibberish),
  ];
  const all = await Promise.all(measures);
  return {
    qualities: all.flatMap(({ qualities }) => qualities),
    faults: all.flatMap(({ faults }) => faults),
  };
}

/** In the middle: what the docs name. */
const injectionThreshold = 0.5;

async function languageOf(text: string): Promise<string | undefined> {
  const { pieces, letters } = spokenPieces(text);
  if (letters < 12) return undefined;
  const [told] = await languageThread.ask(pieces);
  return told?.isSure === true ? told.language : undefined;
}

async function isGibberish(text: string): Promise<true | undefined> {
  const { pieces, letters } = spokenPieces(text);
  if (letters < 12) return undefined;
  const told = await languageThread.ask(pieces);
  const senseless = pieces.filter((piece, at) => {
    const judged = told[at];
    return judged !== undefined && isNonsense(piece, judged);
  });
  return senseless.length * 2 >= pieces.length ? true : undefined;
}

async function measure<Label>(
  kind: string,
  lines: readonly Labelled<Label>[],
  judge: (text: string) => Label | undefined | Promise<Label | undefined>,
): Promise<CheckMeasure> {
  const tuned = { marked: 0, found: 0, wrong: 0 };
  const heldOut = { marked: 0, found: 0, wrong: 0 };
  const faults: string[] = [];
  for (const [at, [text, label]] of lines.entries()) {
    const isHeldOut = at % 3 === 2;
    const counts = isHeldOut ? heldOut : tuned;
    const judged = await judge(text);
    if (label !== undefined) counts.marked++;
    if (label !== undefined && judged === label) counts.found++;
    if (judged !== undefined && judged !== label) counts.wrong++;
    if (judged !== label && !isHeldOut) faults.push(`${kind}: ${judged} for ${label}: ${text}`);
  }
  const quality = (name: string, { marked, found, wrong }: typeof tuned): Quality => ({
    kind: name,
    marked,
    found,
    wrong,
    precision: found / (found + wrong),
    recall: found / marked,
  });
  return { qualities: [quality(kind, tuned), quality(`${kind}, held out`, heldOut)], faults };
}
