import { noUsage } from '@sluice/contracts';
import type { ReplyFacts, Usage } from '@sluice/providers';

/** What a call can have counted at most. */
export interface UsageBounds {
  inputTokensMax: number;
  outputTokensMax: number;
}

/** All counts that are charged: those of the reply, what is charged in their place, and those of other models. */
export function chargedCounts({ usage, chargedTokens, otherModels = [] }: ReplyFacts): Usage[] {
  return [
    ...(usage === undefined ? [] : [usage]),
    ...(chargedTokens === undefined ? [] : [{ ...noUsage, ...chargedTokens }]),
    ...otherModels.map(({ tokens }) => tokens),
  ];
}

/** Where an estimate stands in place of what was counted. */
export function withUsage(
  { chargedTokens: _, otherModels: __, ...facts }: ReplyFacts,
  usage: Usage,
): ReplyFacts {
  return { ...facts, usage };
}

/**
 * The usage that a provider told, within what is possible: whole numbers, none
 * below zero, no part above its whole, no more than the call allows.
 * `isImplausible` = something had to be changed.
 */
export function boundedUsage(
  told: Usage,
  bounds: UsageBounds,
): { usage: Usage; isImplausible: boolean } {
  const inputTokens = countIn(told.inputTokens, bounds.inputTokensMax);
  const outputTokens = countIn(told.outputTokens, bounds.outputTokensMax);
  const cacheReadTokens = countIn(told.cacheReadTokens, inputTokens);
  const cacheWriteTokens = countIn(told.cacheWriteTokens, inputTokens - cacheReadTokens);
  const usage: Usage = {
    ...told,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: countIn(told.cacheWrite1hTokens, cacheWriteTokens),
    reasoningTokens: countIn(told.reasoningTokens, outputTokens),
    inputAudioTokens: countIn(told.inputAudioTokens, inputTokens),
    outputAudioTokens: countIn(told.outputAudioTokens, outputTokens),
  };
  for (const [kind, whole] of furtherKinds) {
    const count = told[kind];
    if (count !== undefined) usage[kind] = countIn(count, usage[whole]);
  }
  if (told.citationTokens !== undefined)
    usage.citationTokens = countIn(told.citationTokens, citationTokensMax);
  for (const name in usage)
    if (usage[name as keyof Usage] !== told[name as keyof Usage])
      return { usage, isImplausible: true };
  return { usage: told, isImplausible: false };
}

/** Kinds that few replies have, and what each is a part of. */
const furtherKinds = [
  ['inputImageTokens', 'inputTokens'],
  ['inputVideoTokens', 'inputTokens'],
  ['outputImageTokens', 'outputTokens'],
  ['outputVideoTokens', 'outputTokens'],
  ['cacheReadAudioTokens', 'inputTokens'],
  ['cacheReadImageTokens', 'inputTokens'],
] as const satisfies readonly (readonly [keyof Usage, keyof Usage])[];

/** It is quoted from what was read in the web: nothing of the request bounds it. */
const citationTokensMax = 2_000_000;

/** What is no number counts as nothing; a part of a token as a whole one. */
function countIn(count: number, max: number): number {
  if (!(count > 0)) return 0;
  return Math.min(Math.ceil(count), Math.max(0, max));
}
