import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from './sha256.ts';
import type { SignatureScope } from './sign-request.ts';

/** An address of S3 that anybody may read until it expires. */
export async function presignUrl(
  origin: string,
  path: string,
  { service, region, credentials, atMs }: SignatureScope,
  expiresInS: number,
): Promise<string> {
  const { protocol, host } = new URL(origin);
  const signer = new SignatureV4({
    service,
    region,
    credentials,
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const { query = {} } = await signer.presign(
    {
      method: 'GET',
      protocol,
      hostname: host,
      path,
      query: {},
      headers: { host, [payload]: 'UNSIGNED-PAYLOAD' },
    },
    {
      signingDate: new Date(atMs),
      expiresIn: expiresInS,
      // Read by the signer, and no part of what is asked.
      unhoistableHeaders: new Set([payload]),
      unsignableHeaders: new Set([payload]),
    },
  );
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
  );
  return `${origin}${path}?${pairs.join('&')}`;
}

const payload = 'x-amz-content-sha256';
