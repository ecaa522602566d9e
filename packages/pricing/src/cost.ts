import type { Rates, RatesTier } from './rates.ts';

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
}

/** Whole nano-dollars. The total is input + output + what is charged for the request as such. */
export interface Cost {
  totalNanoUsd: number;
  inputNanoUsd: number;
  outputNanoUsd: number;
}

/** Plain arithmetic, since it runs once an attempt. Parts that exceed their whole count as zero rest. */
export function costOf(rates: Rates, usage: TokenCounts): Cost {
  const tier = tierFor(rates.tiers, usage.inputTokens);
  const cacheRead = positive(usage.cacheReadTokens);
  const cacheWrite1h = positive(usage.cacheWrite1hTokens);
  const cacheWriteShort = positive(usage.cacheWriteTokens - cacheWrite1h);
  const inputAudio = positive(usage.inputAudioTokens);
  const inputText = positive(
    usage.inputTokens - cacheRead - cacheWriteShort - cacheWrite1h - inputAudio,
  );
  const inputNanoUsd = whole(
    inputText * tier.input +
      cacheRead * tier.cacheRead +
      cacheWriteShort * tier.cacheWrite +
      cacheWrite1h * tier.cacheWrite1h +
      inputAudio * tier.inputAudio,
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

/** Absurd counts of a broken upstream must not leave the range where integers are exact. */
function whole(nanoUsd: number): number {
  return Math.min(Math.round(nanoUsd), Number.MAX_SAFE_INTEGER);
}
