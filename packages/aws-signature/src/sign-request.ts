import { GatewayError } from '@sluice/errors';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentials } from './credentials.ts';
import { Sha256 } from './sha256.ts';

export interface SignableRequest {
  method: string;
  origin: string;
  /** As it is sent: encoded once, with the query. */
  path: string;
  headers: Readonly<Record<string, string | string[]>>;
  /** Undefined = none; `unsigned` leaves it out of the signature, which S3 alone allows. */
  body: Uint8Array | 'unsigned' | undefined;
}

export interface SignatureScope {
  service: string;
  region: string;
  credentials: AwsCredentials;
  atMs: number;
}

/** What a signature is made of: the fewer headers are signed, the fewer can be changed on the way and break it. */
const signedHeaders = /^(?:content-type|range|x-amz-.*|x-goog-cloud-target-resource)$/;
/** What a caller's own signature would bring along. */
const foreign = /^(?:authorization|date|host|x-amz-(?:date|security-token|content-sha256))$/;

/** Signature version 4: the request's headers with those that prove who asks. */
export async function signRequest(
  { method, origin, path, headers, body }: SignableRequest,
  { service, region, credentials, atMs }: SignatureScope,
): Promise<Record<string, string | string[]>> {
  const isS3 = service === 's3';
  const signer = new SignatureV4({
    service,
    region,
    credentials,
    sha256: Sha256,
    // S3 takes the path as it is; everybody else encodes the encoded path once more.
    uriEscapePath: !isS3,
    applyChecksum: isS3,
  });
  const url = new URL(origin);
  const [pathname = '/', search = ''] = splitOnce(path, '?');
  const kept = Object.entries(headers).filter(([name]) => !foreign.test(name.toLowerCase()));
  const signable = kept
    .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
    .filter(([name]) => signedHeaders.test(name));
  const signed = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: pathname,
      query: readQuery(search),
      headers: {
        ...Object.fromEntries(signable),
        host: url.host,
        ...(body === 'unsigned' ? { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } : {}),
      },
      body: body === 'unsigned' ? undefined : body,
    },
    { signingDate: new Date(atMs) },
  );
  return { ...Object.fromEntries(kept), ...signed.headers };
}

/** A signature sorts and writes them all anew; eight thousand took a tenth of a second. */
const queryPairsMax = 500;

/** Decoded as the signing library expects it. A `+` is a plus: that is how AWS reads it. */
function readQuery(search: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  const pairs = search.split('&').filter((pair) => pair !== '');
  if (pairs.length > queryPairsMax)
    throw new GatewayError('request.invalid_field', {
      field: 'query',
      message: `The query has more than the ${queryPairsMax} parameters that are signed for AWS.`,
    });
  for (const pair of pairs) {
    const [rawName = '', rawValue = ''] = splitOnce(pair, '=');
    const name = decoded(rawName);
    const before = query[name];
    const value = decoded(rawValue);
    if (before === undefined) query[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else query[name] = [before, value];
  }
  return query;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign stands for itself.
    return text;
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
