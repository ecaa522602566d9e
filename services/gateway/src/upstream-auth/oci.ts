import { createHash } from 'node:crypto';
import { PrivateKeyFault, type WrittenKey } from '@sluice/outbound';
import type { AuthorisedRequest, UnauthorisedRequest } from '../calls/call-authoriser.ts';
import type { AuthorisationTools } from './authorisation-tools.ts';
import { collectBody } from './collect-body.ts';
import { settingInvalid, settingMissing } from './failure.ts';
import { withoutCredentials } from './own-headers.ts';

/** Signs as Oracle's cloud wants it: https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm */
export async function authoriseOci(
  request: UnauthorisedRequest,
  tools: AuthorisationTools,
): Promise<AuthorisedRequest> {
  const { method, origin, path, signal } = request;
  const keyId = ['oracle-tenancy', 'oracle-user', 'oracle-fingerprint']
    .map((name) => needed(request, name))
    .join('/');
  if (!/^[\w./:-]+$/.test(keyId))
    throw settingInvalid('oracle-tenancy', 'or user or fingerprint has characters that none has');
  const key = privateKey(request);
  const body = await collectBody(request.body, tools.cloud.SIGNED_BODY_BYTES_MAX, signal);
  const headers = withoutCredentials(request.headers);
  for (const name of ['date', 'host', 'x-date', 'x-content-sha256', 'content-length'])
    delete headers[name];
  const signed: Record<string, string> = {
    date: new Date(tools.nowMs()).toUTCString(),
    host: new URL(origin).host,
  };
  if (method === 'POST' || method === 'PUT' || method === 'PATCH') {
    const bytes = body ?? Buffer.alloc(0);
    signed['x-content-sha256'] = createHash('sha256').update(bytes).digest('base64');
    signed['content-type'] = String(headers['content-type'] ?? 'application/json');
    signed['content-length'] = String(bytes.length);
  }
  const lines = [`(request-target): ${method.toLowerCase()} ${path}`];
  for (const [name, value] of Object.entries(signed)) lines.push(`${name}: ${value}`);
  const signature = await tools.keys
    .sign({ key, bytes: Buffer.from(lines.join('\n')), owner: request.owner, signal })
    .catch((error: unknown) => {
      if (!(error instanceof PrivateKeyFault)) throw error;
      throw settingInvalid('oracle-private-key', error.message);
    });
  const names = ['(request-target)', ...Object.keys(signed)].join(' ');
  const { host: _, ...sent } = signed;
  return {
    origin,
    body: body ?? null,
    headers: {
      ...headers,
      ...sent,
      authorization: `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="${names}",signature="${signature.toString('base64')}"`,
    },
  };
}

function needed({ setting }: UnauthorisedRequest, name: string): string {
  const value = setting(name);
  if (value === undefined) throw settingMissing(name, 'Oracle’s cloud');
  return value;
}

/** A passphrase counts where admins saved it with its key: how much work it takes to open that is for callers not to say. */
function privateKey({ setting, savedSetting, apiKey }: UnauthorisedRequest): WrittenKey {
  const written = setting('oracle-private-key');
  const text = written ?? (apiKey === '' ? undefined : apiKey);
  if (text === undefined) throw settingMissing('oracle-private-key', 'Oracle’s cloud');
  const isSaved = savedSetting?.('oracle-private-key') === written;
  return { text, passphrase: isSaved ? savedSetting?.('oracle-key-passphrase') : undefined };
}
