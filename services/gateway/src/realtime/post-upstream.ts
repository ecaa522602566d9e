import type { UpstreamPools } from '@sluice/outbound';
import { authorised } from '../calls/authorised-call.ts';
import type { CallAuthoriser } from '../calls/call-authoriser.ts';
import { UpstreamCall } from '../calls/upstream-call.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';

export interface PostParts {
  readonly pools: UpstreamPools;
  readonly authoriser: CallAuthoriser;
}

const replyBytesMax = 64 * 1024;

/** Sends it once, apart from what is billed and learned from. @returns the status @throws GatewayError where there is none */
export async function postUpstream(
  call: PreparedCall,
  timeoutMs: number,
  { pools, authoriser }: PostParts,
): Promise<number> {
  const { signal } = new AbortController();
  const sent = await authorised(call, signal, authoriser);
  const owner = call.requester.key?.source.workspaceId ?? '';
  const pool = pools.pool(sent.origin, { tls: call.target.tls, by: call.addressBy, owner });
  const upstream = new UpstreamCall(pool, {
    path: call.path,
    method: call.method,
    headers: sent.headers,
    body: sent.body,
    timeoutMs,
    idleTimeoutMs: timeoutMs,
    signal,
  });
  await upstream.head;
  // What it says is nobody's, but its connection is free again.
  await upstream.readAll(replyBytesMax).catch(() => undefined);
  return upstream.status;
}
