import type { ChatUsage } from '@sluice/contracts';
import { furtherKinds } from './further-kinds.ts';

/**
 * A stream's usage by what it tells last, which holds whether it is more or less;
 * but what went in, or came out, cannot have been nothing after all: servers that
 * fill in zeros in events that are not about a side take nothing back of it.
 */
export function laterUsage(former: ChatUsage | undefined, told: ChatUsage): ChatUsage {
  if (former === undefined) return told;
  const tellsInput = told.inputTokens !== 0 || former.inputTokens === 0;
  const tellsOutput = told.outputTokens !== 0 || former.outputTokens === 0;
  if (tellsInput && tellsOutput) return told;
  return { ...inputOf(tellsInput ? told : former), ...outputOf(tellsOutput ? told : former) };
}

function inputOf({ outputTokens, reasoningTokens, outputAudioTokens, ...rest }: ChatUsage) {
  const { outputImageTokens, outputVideoTokens, citationTokens, ...input } = rest;
  return input;
}

function outputOf(usage: ChatUsage) {
  const { outputTokens, reasoningTokens, outputAudioTokens } = usage;
  const { outputImageTokens, outputVideoTokens, citationTokens } = usage;
  return {
    outputTokens,
    reasoningTokens,
    outputAudioTokens,
    ...furtherKinds({ outputImageTokens, outputVideoTokens, citationTokens }),
  };
}
