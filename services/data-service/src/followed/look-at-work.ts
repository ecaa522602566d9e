import { endOf, type FollowedWork } from '@sluice/contracts';
import type { jobs } from '@sluice/proto-stubs';
import type { Dispatcher } from 'undici';
import { awayCodes, bytesOf, errorIn, jsonIn, wasAsked } from '../through-gateway/answers.ts';

/** What one look came to. */
export type Seen =
  | { readonly kind: 'open' }
  /** It has ended; billed it is by the gateway through which that was seen. */
  | { readonly kind: 'ended'; readonly reason: string }
  /** Its key, workspace or provider is gone, or the provider does not know it any more. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** The provider does not know it: it may have been made a moment ago. */
  | { readonly kind: 'missing' }
  /** Nothing is known of it this time. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface Looker {
  readonly pool: Dispatcher;
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
}

/** Asks a gateway for the state of work, as its key would. Never rejects. */
export async function lookAtWork(
  { pool, timeoutMs, answerBytesMax }: Looker,
  { token, work }: jobs.Look,
  follow: FollowedWork,
  signal: AbortSignal,
): Promise<Seen> {
  try {
    const reply = await pool.request({
      method: 'GET',
      path: work?.path ?? '/',
      headers: { authorization: `Bearer ${token}` },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const bytes = await bytesOf(reply.body, answerBytesMax);
    if (bytes === undefined) return failed('its document is too large');
    const document = jsonIn(bytes);
    const { statusCode: status } = reply;
    if (!wasAsked(reply.headers)) return ofRefusal(status, errorIn(document).code);
    if (status === 404 || status === 410) return { kind: 'missing' };
    if (status !== 200) return failed(`status ${status}`);
    if (typeof document !== 'object' || document === null) return failed('it is no document');
    const reason = endOf(follow, document as Record<string, unknown>);
    return reason === undefined ? { kind: 'open' } : { kind: 'ended', reason };
  } catch (error) {
    return failed(error instanceof Error ? error.message : 'no answer');
  }
}

/**
 * Reads what work came to, to its end: a gateway bills what passes. Nothing of it is kept. Never rejects.
 * @returns why it could not be read; undefined = it was
 */
export async function readOutcome(
  { pool, timeoutMs }: Looker,
  { token, work }: jobs.Look,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const reply = await pool.request({
      method: 'GET',
      path: `${work?.path ?? ''}${path}`,
      headers: { authorization: `Bearer ${token}` },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal,
    });
    for await (const _piece of reply.body as AsyncIterable<Buffer>);
    return reply.statusCode === 200 ? undefined : `its output: status ${reply.statusCode}`;
  } catch (error) {
    return error instanceof Error ? error.message : 'its output was not read';
  }
}

/** A provider that is gone, or is another one now. What comes back one day is looked at again. */
const goneCodes: ReadonlySet<string> = new Set([
  'auth.invalid_key',
  'provider.not_found',
  'provider.endpoint_unsupported',
  'object.owner_unknown',
]);

function ofRefusal(status: number, code: string): Seen {
  if (!awayCodes.has(code) && goneCodes.has(code)) return { kind: 'gone', reason: code };
  return failed(code || `status ${status}`);
}

const failed = (reason: string): Seen => ({ kind: 'failed', reason });
