import type { ChatUsage } from '@sluice/contracts';

type FurtherKinds = Pick<
  ChatUsage,
  | 'inputImageTokens'
  | 'outputImageTokens'
  | 'inputVideoTokens'
  | 'outputVideoTokens'
  | 'cacheReadAudioTokens'
  | 'cacheReadImageTokens'
  | 'citationTokens'
>;

/** Kinds of tokens that few replies have: only those that there are. */
export function furtherKinds(counts: FurtherKinds): FurtherKinds | undefined {
  let kinds: FurtherKinds | undefined;
  for (const kind in counts) {
    const count = counts[kind as keyof FurtherKinds];
    if (count === undefined || count === 0) continue;
    kinds ??= {};
    kinds[kind as keyof FurtherKinds] = count;
  }
  return kinds;
}
