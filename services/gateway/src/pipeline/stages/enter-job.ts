import { createHash } from 'node:crypto';
import {
  type BatchLine,
  type BatchStatement,
  batchLineHeader,
  canonicalPrefix,
  isJobToken,
  type JobTokenSeal,
  type LookStatement,
  readBatchLine,
  storedId,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { uuidText } from '@sluice/usage';
import type { ArrivedRequest } from '../../exchange/arrived-request.ts';
import type { ConfigStore } from '../../held/config-store.ts';
import { readCallerHeaders } from '../../http/caller-headers.ts';
import type { WayIn } from './authenticate.ts';

/**
 * Looks at work that goes on at a provider come for the key that began it, as do lines of batches for the key that made the batch.
 *
 * Lines of batches come as requests of the key that made the batch, by a token that the control plane signed. It opens that batch's
 * endpoint and nothing else. The line's own headers, and its place in traces, come with it.
 */
export function createEnterJob(
  seal: JobTokenSeal,
  store: Pick<ConfigStore, 'heldBatch' | 'findBatch' | 'keyOfId'>,
): WayIn {
  const enter: WayIn['enter'] = async (exchange, token) => {
    const statement = seal.read(token, exchange.arrival.startedAtMs);
    if (statement === undefined) throw new GatewayError('auth.job_token');
    return 'workId' in statement
      ? { key: await enterLook(statement), isLook: true }
      : { key: await enterLine(statement), isLook: false };

    /** Whatever became of the key but its end: what it began is billed to it. */
    async function enterLook({ apiKeyId, provider, path, traceId }: LookStatement) {
      const { arrival } = exchange;
      const isItsPath = arrival.pathname === path || arrival.pathname === `${path}/output`;
      if (arrival.method !== 'GET' || !isItsPath || arrival.search !== '')
        throw new GatewayError('auth.job_token', {
          message:
            'The token of a look opens the one path that it names and its output, and nothing else.',
        });
      const key = await store.keyOfId(apiKeyId);
      if (key === undefined) throw new GatewayError('auth.invalid_key', { message: keyGone });
      // What else was sent is nobody's word.
      const headers = { 'x-service-provider': provider };
      exchange.arrival = {
        ...arrival,
        headers,
        caller: { ...readCallerHeaders(headers), traceId, spanName: 'follow' },
        traceId,
      };
      exchange.isLook = true;
      return key;
    }

    async function enterLine({ batchId, endpoint }: BatchStatement) {
      const { arrival } = exchange;
      const { [batchLineHeader]: sent, ...headers } = arrival.headers;
      const line = readBatchLine(sent);
      const isLine = arrival.pathname === endpoint && arrival.method === 'POST';
      if (line?.batchId !== batchId || !(isLine || isManaging(arrival, line)))
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
      const isResponse = line.isResponse === true;
      const traceId = storedId(isResponse ? 'response' : 'batch', batchId);
      exchange.arrival = {
        ...arrival,
        headers: known,
        caller: { ...readCallerHeaders(known), traceId, spanName: line.customId },
        requestId,
        requestIdText: uuidText(requestId),
        traceId,
        ...(isResponse && { keptJob: batchId }),
      };
      exchange.isLine = true;
      return key;
    }
  };
  return { isMeant: isJobToken, enter };
}

/** What a batch takes that its provider runs, at the provider that its line names. */
function isManaging(
  { method, pathname, search }: Pick<ArrivedRequest, 'method' | 'pathname' | 'search'>,
  { headers }: BatchLine,
): boolean {
  if (headers[`${canonicalPrefix}provider`]?.startsWith('@') !== true) return false;
  // Where it was made and nobody heard so, it is looked for.
  if (method === 'GET' && pathname === '/v1/batches')
    return /^\?limit=100(?:&after=[^&]{1,3000})?$/.test(search);
  if (search !== '') return false;
  if (method === 'POST') return /^\/v1\/(?:files|batches|batches\/[^/]+\/cancel)$/.test(pathname);
  return method === 'GET' && /^\/v1\/(?:files\/[^/]+|batches\/[^/]+(?:\/output)?)$/.test(pathname);
}

const keyGone = 'The key that began this work is gone.';

/** A UUIDv7 of the time of its batch, always the same for the same line: one that was called twice is seen. */
function requestIdOf(batchId: string, customId: string): Buffer {
  const id = createHash('sha256').update(`${batchId}\n${customId}`).digest().subarray(0, 16);
  id.write(batchId.replaceAll('-', '').slice(0, 12), 0, 'hex');
  id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
  id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
  return id;
}
