import type { Rates, RatesTier } from './rates.ts';
import { type UnitCounts, unitsNanoUsd } from './unit-rates.ts';

/** Input includes cache reads and writes and audio, each also counted apart; output includes reasoning and audio. */
export interface TokenCounts {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** The part of cacheWriteTokens written with a one-hour lifetime. */
  cacheWrite1hTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
  /** The part of inputTokens that stands for images; 0 when absent. */
  inputImageTokens?: number | undefined;
}

/** Whole nano-dollars. The total is input + output + what is charged for the request as such. */
export interface Cost {
  totalNanoUsd: number;
  inputNanoUsd: number;
  outputNanoUsd: number;
}

/**
 * Plain arithmetic, since it runs once an attempt. Parts that exceed their whole
 * count as zero rest. The rates must have a price for tokens.
 */
export function costOf(rates: Rates, usage: TokenCounts): Cost {
  const tier = tierFor(rates.tiers, usage.inputTokens);
  const inputImage = tier.inputImage === undefined ? 0 : positive(usage.inputImageTokens ?? 0);
  const cacheRead = positive(usage.cacheReadTokens);
  const cacheWrite1h = positive(usage.cacheWrite1hTokens);
  const cacheWriteShort = positive(usage.cacheWriteTokens - cacheWrite1h);
  const inputAudio = positive(usage.inputAudioTokens);
  const inputText = positive(
    usage.inputTokens - cacheRead - cacheWriteShort - cacheWrite1h - inputAudio - inputImage,
  );
  const inputNanoUsd = whole(
    inputText * tier.input +
      cacheRead * tier.cacheRead +
      cacheWriteShort * tier.cacheWrite +
      cacheWrite1h * tier.cacheWrite1h +
      inputAudio * tier.inputAudio +
      inputImage * (tier.inputImage ?? 0),
  );

  const outputAudio = positive(usage.outputAudioTokens);
  const reasoning = tier.reasoning === undefined ? 0 : positive(usage.reasoningTokens);
  const outputText = positive(usage.outputTokens - outputAudio - reasoning);
  const outputNanoUsd = whole(
    outputText * tier.output + outputAudio * tier.outputAudio + reasoning * (tier.reasoning ?? 0),
  );

  return {
    totalNanoUsd: whole(inputNanoUsd + outputNanoUsd + rates.requestNanoUsd),
    inputNanoUsd,
    outputNanoUsd,
  };
}

function tierFor(tiers: readonly RatesTier[], inputTokens: number): RatesTier {
  let chosen = tiers[0]!;
  for (let index = 1; index < tiers.length; index += 1) {
    const tier = tiers[index]!;
    if (inputTokens > tier.aboveInputTokens) chosen = tier;
  }
  return chosen;
}

/** NaN counts as zero, too. */
function positive(count: number): number {
  return Math.max(count, 0) || 0;
}

/**
 * What a whole reply costs: its tokens, where they have a price, and its other
 * units, which are all of the input. Undefined when nothing that was counted has
 * a price: an unknown cost, not a free one.
 */
export function costOfReply(
  rates: Rates,
  tokens: TokenCounts | undefined,
  units: UnitCounts | undefined,
): Cost | undefined {
  const ofUnits = unitsNanoUsd(rates.units, units);
  const hasTokenCost = tokens !== undefined && rates.tiers.length > 0;
  if (!hasTokenCost && ofUnits === undefined) return undefined;
  const ofTokens = hasTokenCost
    ? costOf(rates, tokens)
    : { totalNanoUsd: rates.requestNanoUsd, inputNanoUsd: 0, outputNanoUsd: 0 };
  const more = whole(ofUnits ?? 0);
  return {
    totalNanoUsd: whole(ofTokens.totalNanoUsd + more),
    inputNanoUsd: whole(ofTokens.inputNanoUsd + more),
    outputNanoUsd: ofTokens.outputNanoUsd,
  };
}

/** Absurd counts of a broken upstream must not leave the range where integers are exact. */
function whole(nanoUsd: number): number {
  return Math.min(Math.round(nanoUsd), Number.MAX_SAFE_INTEGER);
}
