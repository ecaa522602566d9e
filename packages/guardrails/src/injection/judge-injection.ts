import { type InjectionSignal, injectionSignals } from '@sluice/contracts/checks';
import { readText } from '../reading/readable-text.ts';
import { decodedTexts } from './encodings.ts';
import { findIdeas, type Ideas } from './find-ideas.ts';
import { judgeAddresses } from './judge-addresses.ts';
import type { Idea } from './lexicon.ts';
import { judgeTemplates } from './template-tokens.ts';

/** What speaks for an attempt, each with how sure it makes: 0 to 1. */
export type Signals = Readonly<Record<string, number>>;

export interface InjectionVerdict {
  /** 0 to 1; not a probability. */
  readonly score: number;
  readonly signals: Signals;
}

/** Who wrote the text: what tools bring in has nothing to say to a model. */
export type Speaker = 'caller' | 'tool';

/** Judges a text of some thousand characters in one go, by the signals that are sought. */
export function judgeInjection(
  text: string,
  speaker: Speaker,
  sought: ReadonlySet<InjectionSignal> = everySignal,
): InjectionVerdict {
  const signals = [...signalsOf(text, speaker, encodingDepth, { left: decodedLengthMax })];
  return summed(signals.filter(([name]) => sought.has(name)));
}

const everySignal: ReadonlySet<InjectionSignal> = new Set(injectionSignals);

/** An encoding within an encoding is as far as anybody has to look. */
const encodingDepth = 2;
/** Of all that is decoded, since each may be read in several ways: some ten milliseconds of looking. */
const decodedLengthMax = 32 * 1024;

function signalsOf(
  original: string,
  speaker: Speaker,
  depth: number,
  budget: { left: number },
): Map<InjectionSignal, number> {
  const { text, disguises, hidden } = readText(original);
  const ideas = findIdeas(text);
  const signals = new Map<InjectionSignal, number>();
  const note = (name: InjectionSignal, weight: number) => {
    if (weight > (signals.get(name) ?? 0)) signals.set(name, weight);
  };
  for (const [name, weigh] of rules) note(name, weigh(ideas, speaker));
  note('template', judgeTemplates(original));
  note('exfiltration', judgeAddresses(original));
  const isMeant = [...signals.values()].some((weight) => weight >= 0.3);
  for (const disguise of disguises) note(disguise, isMeant ? 0.5 : 0.1);
  if (ideas.respelled > 1) note('spelling', isMeant ? 0.5 : 0.1);
  if (depth === 0) return signals;
  const inner = (decoded: string, name: InjectionSignal, least: number) => {
    budget.left -= decoded.length;
    // Nobody sends as much to be read: it hides something, or is there to keep us.
    if (budget.left < 0) return note(name, 0.5);
    const within = signalsOf(decoded, speaker, depth - 1, budget);
    const { score } = summed(within);
    for (const [signal, weight] of within) note(signal, weight);
    note(name, score >= 0.3 ? 0.6 : least);
  };
  for (const decoded of decodedTexts(original)) inner(decoded, 'encoding', 0);
  // Nobody writes whole sentences in characters that nobody sees without a reason.
  for (const unseen of hidden) inner(unseen, 'hidden_characters', 0.7);
  return signals;
}

/** Each signal takes its share of the doubt that is left. */
function summed(signals: Iterable<readonly [name: string, weight: number]>): InjectionVerdict {
  let doubt = 1;
  const told: Record<string, number> = {};
  for (const [name, weight] of signals) {
    if (weight === 0) continue;
    doubt *= 1 - weight;
    told[name] = weight;
  }
  return { score: Math.round((1 - doubt) * 100) / 100, signals: told };
}

type Weigh = (ideas: Ideas, speaker: Speaker) => number;

const weights: Partial<Record<InjectionSignal, Weigh>> = {
  override: (ideas) => {
    const drops = dropsOf(ideas);
    let best = 0;
    for (const drop of drops) {
      const order = nearest(ideas, 'orders', drop.at, drop.isLast ? 14 : 0, drop.isLast ? 0 : 8);
      if (order === undefined) {
        // “Disregard everything you were told before this message”
        if (
          isNear(ideas, 'all', drop.at, 4) &&
          (isNear(ideas, 'your', drop.at, 7) || isNear(ideas, 'prior', drop.at, 5))
        )
          best = Math.max(best, 0.5);
        continue;
      }
      const from = Math.min(drop.at, order - 3);
      const isSome =
        isWithin(ideas, 'prior', from, order + 2) || isWithin(ideas, 'your', from, order + 5);
      const isAll = isWithin(ideas, 'all', from, order);
      best = Math.max(best, isSome ? 0.75 : isAll ? 0.45 : 0.15);
    }
    return best;
  },
  prompt_leak: (ideas) => {
    let best = 0;
    for (const prompt of ideas.places.get('prompt') ?? []) {
      if (!isNear(ideas, 'tell', prompt, 12)) continue;
      best = Math.max(best, isNear(ideas, 'your', prompt, 4) ? 0.6 : 0.5);
    }
    return best;
  },
  persona: (ideas) => {
    const free = ideas.places.get('free') ?? [];
    if (free.length === 0) return ideas.places.has('mode') ? 0.25 : 0;
    if (ideas.places.has('mode')) return 0.65;
    return free.some((at) => isNear(ideas, 'become', at, 25)) ? 0.65 : 0.25;
  },
  no_refusal: (ideas) => (ideas.places.has('noRefusal') ? 0.5 : 0),
  authority: (ideas) => {
    const count = ideas.places.get('authority')?.length ?? 0;
    return count === 0 ? 0 : count === 1 ? 0.35 : 0.55;
  },
  fiction: (ideas) => {
    if (!ideas.places.has('harm')) return 0;
    const told = ['fiction', 'become'].filter((idea) => ideas.places.has(idea as Idea)).length;
    return told === 0 ? 0 : told === 1 ? 0.35 : 0.55;
  },
  decode_and_obey: (ideas) => (ideas.places.has('decode') && ideas.places.has('comply') ? 0.5 : 0),
  concealment: (ideas, speaker) =>
    ideas.places.has('conceal') ? (speaker === 'tool' ? 0.6 : 0.2) : 0,
  addressed: (ideas, speaker) => {
    if (speaker === 'caller') return 0;
    let best = 0;
    for (const at of ideas.places.get('addressee') ?? []) {
      const isTold = isNear(ideas, 'must', at, 8);
      const acts = isNear(ideas, 'act', at, 10);
      const treasure = isNear(ideas, 'treasure', at, 18);
      best = Math.max(best, isTold && acts ? 0.55 : acts && treasure ? 0.5 : isTold ? 0.2 : 0);
    }
    return best;
  },
};

const rules = Object.entries(weights) as [InjectionSignal, Weigh][];

interface Drop {
  readonly at: number;
  /** What is dropped stands before it. */
  readonly isLast: boolean;
}

/** Where something is to be put aside; not where it is not to be. */
function dropsOf(ideas: Ideas): Drop[] {
  const nots = ideas.places.get('not') ?? [];
  const isNegated = (at: number) =>
    nots.some((not) => not >= at - 2 && not <= at + 1 && not !== at);
  const drops = (ideas.places.get('drop') ?? [])
    .filter((at) => !isNegated(at))
    .map((at) => ({ at, isLast: false }));
  const last = (ideas.places.get('dropLast') ?? []).flatMap((at) => [
    { at, isLast: true },
    { at, isLast: false },
  ]);
  const disobeyed = (ideas.places.get('obey') ?? [])
    .filter((at) => nots.some((not) => not < at && not >= at - 2))
    .map((at) => ({ at, isLast: false }));
  return [...drops, ...last, ...disobeyed].slice(0, dropsMax);
}

/** A text that says it more often is judged by the first. */
const dropsMax = 64;

function nearest(
  ideas: Ideas,
  idea: Idea,
  at: number,
  before: number,
  after: number,
): number | undefined {
  return ideas.places.get(idea)?.find((place) => place >= at - before && place <= at + after);
}

function isNear(ideas: Ideas, idea: Idea, at: number, within: number): boolean {
  return isWithin(ideas, idea, at - within, at + within);
}

function isWithin(ideas: Ideas, idea: Idea, from: number, to: number): boolean {
  return ideas.places.get(idea)?.some((place) => place >= from && place <= to) ?? false;
}
