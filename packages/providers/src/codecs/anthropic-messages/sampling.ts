import type { ChatRequest } from '@sluice/contracts';
import type { ClaudeFacts } from '../../models/claude.ts';
import { withinRange } from '../within-range.ts';

export interface Sampling {
  temperature?: number;
  topP?: number;
  topK?: number;
}

/** While it thinks, a model chooses among nearly all its words. */
const thinkingTopPMin = 0.95;

/** What a Claude model takes of temperature, top_p and top_k; the rest is named. */
export function encodeSampling(
  request: Pick<ChatRequest, 'temperature' | 'topP' | 'topK'>,
  { sampling }: Pick<ClaudeFacts, 'sampling'>,
  isThinking: boolean,
  dropped: string[],
): Sampling {
  const { temperature, topP, topK } = request;
  const result: Sampling = {};
  // Values that are the defaults change nothing, and are not missed.
  const isFixed = sampling === 'default';
  if (temperature !== undefined) {
    if ((isFixed || isThinking) && temperature !== 1) dropped.push('temperature');
    else if (!isFixed)
      result.temperature = withinRange(temperature, [0, 1], 'temperature', dropped);
  }
  if (topP !== undefined) {
    const isOne = sampling === 'one' && result.temperature !== undefined;
    if (isFixed ? topP < 0.99 : isOne || (isThinking && topP < thinkingTopPMin))
      dropped.push('top_p');
    else if (!isFixed) result.topP = topP;
  }
  if (topK !== undefined) {
    if (isFixed || isThinking) dropped.push('top_k');
    else result.topK = topK;
  }
  return result;
}
