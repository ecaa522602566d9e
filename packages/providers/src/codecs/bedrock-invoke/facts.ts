import { type JsonObject, noUsage } from '@sluice/contracts';
import type { ReplyFacts, ReplyHead, Usage } from '../../contract.ts';
import { countOf, objectOf } from '../../json/json-access.ts';

/** Of the last chunk of a stream of InvokeModel, whichever model it is. */
export const metricsName = 'amazon-bedrock-invocationMetrics';

/** InvokeModel tells the tokens of every model in headers, whatever its body says. */
export function usageOf(
  head: ReplyHead,
  inBody: { input?: unknown; output?: unknown } = {},
): Usage {
  return {
    ...noUsage,
    inputTokens: counted(inBody.input, headerOf(head, 'input')),
    outputTokens: counted(inBody.output, headerOf(head, 'output')),
  };
}

/** What the headers tell; no usage where the model counts no tokens. */
export function readHead(head: ReplyHead): ReplyFacts {
  return factsOf(
    headerOf(head, 'input'),
    headerOf(head, 'output'),
    headerOf(head, 'cache-read-input'),
    headerOf(head, 'cache-write-input'),
  );
}

/** The same of a chunk; no usage in all but the last one. */
export function readMetrics(chunk: JsonObject): ReplyFacts {
  const metrics = objectOf(chunk[metricsName]);
  return factsOf(
    metrics?.inputTokenCount,
    metrics?.outputTokenCount,
    metrics?.cacheReadInputTokenCount,
    metrics?.cacheWriteInputTokenCount,
  );
}

/** The vendor counts what it cached beside the input. */
function factsOf(input: unknown, output: unknown, read: unknown, written: unknown): ReplyFacts {
  if ((input ?? output ?? null) === null) return {};
  const cacheReadTokens = numberIn(read);
  const cacheWriteTokens = numberIn(written);
  const inputTokens = numberIn(input) + cacheReadTokens + cacheWriteTokens;
  const outputTokens = numberIn(output);
  return { usage: { ...noUsage, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } };
}

function headerOf({ headers }: ReplyHead, kind: string): string | string[] | undefined {
  return headers[`x-amzn-bedrock-${kind}-token-count`];
}

function counted(inBody: unknown, header: unknown): number {
  const count = countOf(inBody);
  return count !== 0 || header === undefined ? count : numberIn(header);
}

function numberIn(value: unknown): number {
  return countOf(typeof value === 'string' ? Number(value) : value);
}
