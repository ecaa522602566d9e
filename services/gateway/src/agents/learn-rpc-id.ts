import { isObject } from '@sluice/a2a';
import { jsonBounds, readJsonObject } from '@sluice/json';
import type { Stage } from '../pipeline/pipeline.ts';
import { type AgentExchange, expectAgentCall } from './find-agent.ts';

/** More than the envelope of a message, and little enough to be read of strangers. */
const bytesMax = 64 * 1024;

/**
 * Outermost: a refusal from before the request was read is told to who speaks
 * JSON-RPC with the id of the request, as clients look for it.
 */
export const learnRpcId: Stage = async (exchange, next) => {
  expectAgentCall(exchange);
  try {
    return await next();
  } catch (error) {
    if (!exchange.subject.isRead) exchange.subject.rpcId = await idIn(exchange);
    throw error;
  }
};

async function idIn({ arrival }: AgentExchange): Promise<string | number | null | undefined> {
  const length = Number(arrival.headers['content-length']);
  if (arrival.method !== 'POST' || !(length > 0 && length <= bytesMax)) return undefined;
  if (!/\bjson\b/i.test(arrival.headers['content-type'] ?? '')) return undefined;
  try {
    const message = readJsonObject(await arrival.readBody(), jsonBounds.small);
    if (!isObject(message) || typeof message.method !== 'string') return undefined;
    const { id } = message;
    return typeof id === 'string' || typeof id === 'number' ? id : null;
  } catch {
    // Not to be read, or read already: the refusal is told as any other.
    return undefined;
  }
}
