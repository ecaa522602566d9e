import { createHash } from 'node:crypto';
import { batchLineHeader, type JobTokenSeal, readBatchLine, storedId } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { uuidText } from '@sluice/usage';
import type { ConfigStore } from '../../held/config-store.ts';
import { readCallerHeaders } from '../../http/caller-headers.ts';
import type { EnterJob } from './authenticate.ts';

/**
 * Lines of batches come as requests of the key that made the batch, by a token that the control plane signed. It opens that batch's
 * endpoint and nothing else. The line's own headers, and its place in traces, come with it.
 */
export function createEnterJob(
  seal: JobTokenSeal,
  store: Pick<ConfigStore, 'heldBatch' | 'findBatch'>,
): EnterJob {
  return async (exchange, token) => {
    const { arrival } = exchange;
    const statement = seal.read(token, arrival.startedAtMs);
    if (statement === undefined) throw new GatewayError('auth.job_token');
    const { batchId, endpoint } = statement;
    const { [batchLineHeader]: sent, ...headers } = arrival.headers;
    const line = readBatchLine(sent);
    if (line?.batchId !== batchId || arrival.pathname !== endpoint || arrival.method !== 'POST')
      throw new GatewayError('auth.job_token', {
        message: 'The token of a batch opens the endpoint of that batch, and nothing else.',
      });
    const key = store.heldBatch(batchId) ?? (await store.findBatch(batchId));
    if (key === undefined)
      throw new GatewayError('auth.invalid_key', {
        message: 'The key of this batch, or the batch itself, is gone.',
      });
    const known = { ...headers, ...line.headers };
    const requestId = requestIdOf(batchId, line.customId);
    const traceId = storedId('batch', batchId);
    exchange.arrival = {
      ...arrival,
      headers: known,
      caller: { ...readCallerHeaders(known), traceId, spanName: line.customId },
      requestId,
      requestIdText: uuidText(requestId),
      traceId,
    };
    return key;
  };
}

/** A UUIDv7 of the time of its batch, always the same for the same line: one that was called twice is seen. */
function requestIdOf(batchId: string, customId: string): Buffer {
  const id = createHash('sha256').update(`${batchId}\n${customId}`).digest().subarray(0, 16);
  id.write(batchId.replaceAll('-', '').slice(0, 12), 0, 'hex');
  id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
  id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
  return id;
}
