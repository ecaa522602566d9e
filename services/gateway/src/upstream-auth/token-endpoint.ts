import { GatewayError } from '@sluice/errors';
import { jsonBounds, readJsonText } from '@sluice/json';
import type { AddressAuthor, UpstreamPools } from '@sluice/outbound';
import type { Dispatcher } from 'undici';
import { UpstreamCall } from '../calls/upstream-call.ts';
import { authorisationFailed } from './failure.ts';

export interface TokenRequest {
  /** As it stands in errors: `Google’s token endpoint`. */
  step: string;
  url: string;
  /** Who wrote the address; `vendor` unless given. What an operator's settings name is within any air gap. */
  by?: AddressAuthor;
  method?: Dispatcher.HttpMethod;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

export interface TokenReply {
  status: number;
  text: string;
}

/** Asks who gives tokens. The way is every upstream's: checked addresses, proxy, private CA. */
export type AskTokenEndpoint = (request: TokenRequest) => Promise<TokenReply>;

export const tokenDeadlineMs = 10_000;
export const tokenReplyBytesMax = 256 * 1024;

export function createTokenEndpoints(pools: UpstreamPools, owner: string): AskTokenEndpoint {
  return async ({ step, url, by = 'vendor', method = 'POST', headers = {}, body, signal }) => {
    const { origin, pathname, search } = new URL(url);
    try {
      const call = new UpstreamCall(pools.pool(origin, { by, owner }), {
        path: `${pathname}${search}`,
        method,
        headers: { accept: '*/*', 'user-agent': 'sluice', ...headers },
        body: body ?? null,
        timeoutMs: tokenDeadlineMs,
        idleTimeoutMs: tokenDeadlineMs,
        signal,
      });
      await call.head;
      const bytes = await call.readAll(tokenReplyBytesMax);
      return { status: call.status, text: bytes.toString('utf8') };
    } catch (caught) {
      throw tokenFailure(step, caught, signal);
    }
  };
}

/** What a failed call means to the step; who left, left. */
export function tokenFailure(step: string, caught: unknown, signal: AbortSignal): unknown {
  if (signal.aborted && signal.reason instanceof GatewayError) return signal.reason;
  const code = caught instanceof GatewayError ? caught.code : undefined;
  if (signal.aborted || code === 'upstream.timeout' || code === 'upstream.stream_stalled')
    return authorisationFailed(step, `did not answer within ${tokenDeadlineMs / 1000} s`, caught);
  if (code === 'host.invalid')
    return authorisationFailed(step, 'is at an address that is not allowed', caught);
  if (code === 'provider.authorisation_failed' || code === 'host.air_gapped') return caught;
  return authorisationFailed(step, 'could not be reached', caught);
}

/** The reply of an OAuth token endpoint. A token is never empty. */
export function readOauthToken(
  step: string,
  { status, text }: TokenReply,
  nowMs: number,
): { value: string; expiresAtMs: number } {
  const reply = parsedObject(text);
  if (status !== 200) throw authorisationFailed(step, `answered ${status}${oauthError(reply)}`);
  const token = reply?.access_token;
  if (!isToken(token)) throw authorisationFailed(step, 'answered without a token');
  return { value: token, expiresAtMs: expiryOf(reply, nowMs) };
}

/** What can stand in a header: no white space, nothing empty. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,65536}$/.test(value) && value !== 'undefined';
}

/** `expires_in` seconds from now, or `expires_on` in unix seconds; either may be text. */
function expiryOf(reply: Record<string, unknown> | undefined, nowMs: number): number {
  const seconds = Number(reply?.expires_in);
  if (Number.isFinite(seconds) && seconds > 0) return nowMs + seconds * 1000;
  const at = Number(reply?.expires_on);
  if (Number.isFinite(at) && at > 0) return at * 1000;
  // A token of unknown life is good for the request that fetched it, and a little.
  return nowMs + 60_000;
}

function oauthError(reply: Record<string, unknown> | undefined): string {
  const error = reply?.error;
  const numbers = Array.isArray(reply?.error_codes) ? reply.error_codes : [];
  const known = [error, ...numbers].filter(
    (item) => typeof item === 'number' || /^[A-Za-z_]{1,64}$/.test(String(item ?? '')),
  );
  return known.length === 0 ? '' : ` (${known.join(', ')})`;
}

export function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = readJsonText(text, jsonBounds.small);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Not JSON, or far more than a token: the caller says what that means.
    return undefined;
  }
}
