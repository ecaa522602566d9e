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
    inputTokens: counted(inBody.input, head.headers['x-amzn-bedrock-input-token-count']),
    outputTokens: counted(inBody.output, head.headers['x-amzn-bedrock-output-token-count']),
  };
}

function counted(inBody: unknown, header: unknown): number {
  const count = countOf(inBody);
  return count !== 0 || header === undefined ? count : countOf(Number(header));
}
