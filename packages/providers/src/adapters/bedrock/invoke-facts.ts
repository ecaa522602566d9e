import { noUsage } from '@sluice/contracts';
import type { ReplyHead, Usage } from '../../contract.ts';
import { countOf } from '../../json/json-access.ts';

/** InvokeModel tells the tokens of every model in headers, whatever its body says. */
export function usageOf(
  head: ReplyHead,
  inBody: { input?: unknown; output?: unknown } = {},
): Usage {
  return {
    ...noUsage,
    inputTokens: countOf(inBody.input) || headerCount(head, 'x-amzn-bedrock-input-token-count'),
    outputTokens: countOf(inBody.output) || headerCount(head, 'x-amzn-bedrock-output-token-count'),
  };
}

function headerCount(head: ReplyHead, name: string): number {
  return countOf(Number(head.headers[name]));
}
