import { createHash, createHmac } from 'node:crypto';

export interface ReceivedRequest {
  readonly method: string;
  /** As it came: path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/**
 * Why a request of S3 is not signed as it must be; undefined = it is. Written
 * from https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html,
 * and from nothing that signs, so that the two cannot be wrong together. Other
 * services encode the path once more, and sign the body itself.
 */
export function signatureFault(
  request: ReceivedRequest,
  credentials: S3Credentials,
  nowMs: number,
  service = 's3',
): string | undefined {
  const [path = '', search = ''] = request.target.split(/\?(.*)/s);
  const query = search
    .split('&')
    .filter((pair) => pair !== '')
    .map(pairOf);
  const isPresigned = query.some(([name]) => name === 'X-Amz-Signature');
  const told = isPresigned ? readQuery(query) : readHeader(request.headers);
  if (told === undefined) return 'AccessDenied';
  const day = told.date.slice(0, 8);
  const scope = `${day}/${credentials.region}/${service}/aws4_request`;
  if (told.credential !== `${credentials.accessKeyId}/${scope}`) return 'InvalidAccessKeyId';
  const ageMs = nowMs - timeOf(told.date);
  if (ageMs < -15 * 60_000 || ageMs > (told.expiresS ?? 15 * 60) * 1000)
    return 'RequestTimeTooSkewed';
  if (!told.signedHeaders.includes('host')) return 'AccessDenied';
  const isS3 = service === 's3';
  const payload = isPresigned
    ? 'UNSIGNED-PAYLOAD'
    : isS3
      ? (request.headers['x-amz-content-sha256'] ?? '')
      : sha256(request.body);
  if (!isPresigned && payload !== sha256(request.body)) return 'XAmzContentSHA256Mismatch';
  // Whatever AWS would act on must be signed.
  for (const name in request.headers)
    if (name.startsWith('x-amz-') && !told.signedHeaders.includes(name)) return 'AccessDenied';
  const canonical = [
    request.method,
    isS3 ? path : path.split('/').map(encoded).join('/'),
    query
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...told.signedHeaders.map(
      (name) => `${name}:${(request.headers[name] ?? '').trim().replace(/ +/g, ' ')}`,
    ),
    '',
    told.signedHeaders.join(';'),
    payload,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', told.date, scope, sha256(canonical)].join('\n');
  const key = [credentials.region, service, 'aws4_request'].reduce(
    hmac,
    hmac(`AWS4${credentials.secretAccessKey}`, day),
  );
  return hmac(key, text).toString('hex') === told.signature ? undefined : 'SignatureDoesNotMatch';
}

interface Told {
  credential: string;
  date: string;
  signedHeaders: string[];
  signature: string;
  expiresS?: number;
}

function readHeader(headers: ReceivedRequest['headers']): Told | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^,\s]+), ?SignedHeaders=([^,\s]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  const date = headers['x-amz-date'];
  if (match === null || date === undefined) return undefined;
  const [, credential = '', signed = '', signature = ''] = match;
  return { credential, date, signedHeaders: signed.split(';'), signature };
}

function readQuery(query: readonly Pair[]): Told | undefined {
  const of = (name: string) => query.find(([given]) => given === name)?.[1] ?? '';
  if (of('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256') return undefined;
  return {
    credential: of('X-Amz-Credential'),
    date: of('X-Amz-Date'),
    signedHeaders: of('X-Amz-SignedHeaders').split(';'),
    signature: of('X-Amz-Signature'),
    expiresS: Number(of('X-Amz-Expires')),
  };
}

type Pair = readonly [name: string, value: string];

function pairOf(pair: string): Pair {
  const [name = '', value = ''] = pair.split(/=(.*)/s);
  return [decodeURIComponent(name), decodeURIComponent(value)];
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** `20130524T000000Z`. */
function timeOf(date: string): number {
  const iso = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return Date.parse(iso);
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
