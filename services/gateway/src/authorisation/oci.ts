import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { collectBody } from './collect-body.ts';
import { settingInvalid, settingMissing } from './failure.ts';
import { withoutCredentials } from './own-headers.ts';
import { tokenKey } from './token-cache.ts';
import type {
  AuthorisationTools,
  AuthorisedRequest,
  UnauthorisedRequest,
} from './unauthorised-request.ts';

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
  const key = await privateKey(request, tools);
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
  const signature = sign('rsa-sha256', Buffer.from(lines.join('\n')), key).toString('base64');
  const names = ['(request-target)', ...Object.keys(signed)].join(' ');
  const { host: _, ...sent } = signed;
  return {
    origin,
    body: body ?? null,
    headers: {
      ...headers,
      ...sent,
      authorization: `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="${names}",signature="${signature}"`,
    },
  };
}

function needed({ setting }: UnauthorisedRequest, name: string): string {
  const value = setting(name);
  if (value === undefined) throw settingMissing(name, 'Oracle’s cloud');
  return value;
}

/** Kept with the tokens: to open an encrypted key is work that is made slow on purpose. */
function privateKey(request: UnauthorisedRequest, tools: AuthorisationTools): Promise<KeyObject> {
  const { setting, apiKey, signal } = request;
  const text = setting('oracle-private-key') ?? (apiKey === '' ? undefined : apiKey);
  if (text === undefined) throw settingMissing('oracle-private-key', 'Oracle’s cloud');
  const passphrase = setting('oracle-key-passphrase');
  return tools.tokens.get(tokenKey('oci-key', text, passphrase), signal, async () => {
    const key = readKey(pemOf(text), passphrase);
    if (key?.asymmetricKeyType !== 'rsa')
      throw settingInvalid(
        'oracle-private-key',
        'must be an RSA key as PEM, with its passphrase where it is encrypted',
      );
    return { value: key, expiresAtMs: Number.POSITIVE_INFINITY };
  });
}

function readKey(pem: string, passphrase: string | undefined): KeyObject | undefined {
  try {
    return createPrivateKey({ key: pem, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    // The library's error may show what it read.
    return undefined;
  }
}

/** A header holds no line ends: there a PEM comes with `\n` written out, with spaces, or in base64. */
function pemOf(text: string): string {
  const plain = text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString('utf8');
  const lines = plain.replaceAll('\\n', '\n').trim();
  const parts = /^(-----BEGIN [A-Z ]+-----)([^-]+)(-----END [A-Z ]+-----)$/.exec(lines);
  if (parts === null || lines.includes('\n')) return lines;
  return `${parts[1]}\n${parts[2]?.trim().replace(/\s+/g, '\n')}\n${parts[3]}`;
}
