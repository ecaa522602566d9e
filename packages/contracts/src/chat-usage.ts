/** Tokens of one reply. Input includes cache reads and writes, each also counted apart. */
export interface ChatUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** The part of cacheWriteTokens written with a one-hour lifetime. */
  cacheWrite1hTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
  /** From here on: absent = none. */
  inputImageTokens?: number;
  outputImageTokens?: number;
  inputVideoTokens?: number;
  outputVideoTokens?: number;
  /** Of the tokens read from the cache those that are sound, and so among inputAudioTokens too. */
  cacheReadAudioTokens?: number;
  cacheReadImageTokens?: number;
  /** Beside the output: what the provider quoted. */
  citationTokens?: number;
}

/** What is not told counts as nothing. */
export const noUsage: Readonly<ChatUsage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
};
