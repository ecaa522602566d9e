import { JsonError, jsonBounds, readJson } from '@sluice/json';

/**
 * Whether a provider was asked: the reply counts its calls, in a header of whichever prefix. That it names a provider does not say so: a
 * refusal by a limit names the target that it was on its way to.
 */
export function wasAsked(headers: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.endsWith('-attempts') && value !== '0',
  );
}

/** Of a gateway's own refusals those that say nothing of what was asked, and nothing of its key. */
export const awayCodes: ReadonlySet<string> = new Set([
  'auth.job_token',
  'auth.unavailable',
  'gateway.draining',
  'gateway.bundle_unavailable',
  'gateway.ledger_full',
]);

export interface ToldError {
  readonly code: string;
  readonly message: string;
}

export const noError: ToldError = { code: '', message: '' };

/** As all of our refusals say it. */
export function errorIn(value: unknown): ToldError {
  const { error } = (typeof value === 'object' && value !== null ? value : {}) as {
    error?: { code?: unknown; message?: unknown };
  };
  const { code, message } = error ?? {};
  return {
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : '',
  };
}

/** Undefined = it is none that can be read. */
export function jsonIn(bytes: Buffer): unknown {
  try {
    return readJson(bytes, jsonBounds.reply);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Undefined = there is more than so much of it. */
export async function bytesOf(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
  bytesMax: number,
): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let held = 0;
  for await (const piece of body) {
    held += piece.length;
    if (held > bytesMax) {
      body.destroy();
      return undefined;
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
