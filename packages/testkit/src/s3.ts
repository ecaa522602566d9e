import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { byteRange } from './byte-range.ts';
import { keepAliveMs } from './keep-alive.ts';
import { OpenUploads } from './s3-multipart.ts';
import { signatureFault } from './s3-signature.ts';
import { type RecordedRequest, recordedRequest } from './upstream.ts';
import type { UpstreamReply } from './upstream-replies.ts';

/** A bucket that lets in nobody without a right signature. */
export interface TestS3 {
  /** With the bucket: as `LOG_STORE_BASEPATH`. */
  readonly basePath: string;
  readonly origin: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly objects: Map<string, Buffer>;
  /** Of each object, the headers it was sent with. */
  readonly headers: Map<string, Readonly<Record<string, string>>>;
  /** Uploads in parts that were begun, and neither ended nor taken back. */
  readonly openUploads: number;
  /** Why requests were refused, oldest first. */
  readonly refusals: string[];
  readonly requests: number;
  /** What stands at the same origin: asked first, of every request; undefined = it is the bucket's. */
  serve(beside: Beside): void;
  /** Answers everything so from now on; undefined = as it should. */
  fail(failure: S3Failure | undefined): void;
  close(): Promise<void>;
}

/**
 * A status of the bucket's own, `hang`, or what somebody before the bucket answers in its place: `page` a log-in page with 200,
 * `login` the way to one, `forbidden` and `no-such-page` pages of a proxy, `cut` the first half of what the bucket answers, well framed.
 */
export type S3Failure = number | 'hang' | 'redirect' | keyof typeof pages | 'cut';

const pages = {
  page: 200,
  login: 302,
  forbidden: 403,
  'no-such-page': 404,
} as const;

export type Beside = (request: RecordedRequest) => UpstreamReply | undefined;

export async function startS3(): Promise<TestS3> {
  const bucket = 'sluice-logs';
  const region = 'eu-central-1';
  const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret-of-the-bucket', region };
  const objects = new Map<string, Buffer>();
  const headersOf = new Map<string, Readonly<Record<string, string>>>();
  const refusals: string[] = [];
  let failure: S3Failure | undefined;
  let requests = 0;
  const uploads = new OpenUploads();
  let beside: Beside = () => undefined;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    requests++;
    const body = await buffer(incoming);
    const other = beside(recordedRequest(incoming, body));
    if (other !== undefined) return other.send(response, new AbortController().signal);
    const refuse = (status: number, code: string) => {
      refusals.push(code);
      response.writeHead(status, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
    };
    if (failure === 'hang') return;
    if (failure === 'redirect') {
      response.writeHead(307, { location: 'http://127.0.0.1:9/elsewhere' });
      response.end();
      return;
    }
    if (typeof failure === 'number') return refuse(failure, 'InternalError');
    if (failure !== undefined && failure !== 'cut') {
      response.writeHead(pages[failure], {
        'content-type': 'text/html; charset=utf-8',
        ...(failure === 'login' && { location: 'https://login.example.com/' }),
      });
      response.end('<!doctype html><html><body><h1>Please log in</h1></body></html>');
      return;
    }
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    const target = incoming.url ?? '/';
    const method = incoming.method ?? '';
    const fault = signatureFault({ method, target, headers, body }, credentials, Date.now());
    if (fault !== undefined) return refuse(403, fault);
    const url = new URL(target, 'http://s3');
    const path = decodeURIComponent(url.pathname);
    if (path !== `/${bucket}` && !path.startsWith(`/${bucket}/`))
      return refuse(404, 'NoSuchBucket');
    const key = path.slice(bucket.length + 2);
    const ofParts =
      key === '' ? undefined : uploads.answer(method, key, url.searchParams, headers, body);
    if (ofParts !== undefined) {
      if ('fault' in ofParts) return refuse(ofParts.status, ofParts.fault);
      if ('tag' in ofParts) response.setHeader('etag', ofParts.tag);
      if ('done' in ofParts) {
        objects.set(ofParts.done.key, ofParts.done.content);
        headersOf.set(ofParts.done.key, ofParts.done.headers);
      }
      response.end('body' in ofParts ? ofParts.body : '<CompleteMultipartUploadResult/>');
    } else if (method === 'PUT' && key !== '') {
      const sum = headers['x-amz-checksum-sha256'];
      if (sum !== undefined && sum !== createHash('sha256').update(body).digest('base64'))
        return refuse(400, 'BadDigest');
      objects.set(key, body);
      headersOf.set(key, headers);
      response.setHeader('etag', tagOf(body));
      response.end();
    } else if ((method === 'GET' || method === 'HEAD') && key !== '') {
      const content = objects.get(key);
      if (content === undefined) return refuse(404, 'NoSuchKey');
      const part = byteRange(headers.range, content.length);
      if (part === 'unsatisfiable') return refuse(416, 'InvalidRange');
      response.writeHead(part === undefined ? 200 : 206, {
        'content-length': (part?.end ?? content.length) - (part?.start ?? 0),
        'content-type': headersOf.get(key)?.['content-type'] ?? 'binary/octet-stream',
        'last-modified': 'Tue, 03 Nov 2026 10:00:00 GMT',
        'accept-ranges': 'bytes',
        etag: tagOf(content),
        ...(part && { 'content-range': `bytes ${part.start}-${part.end - 1}/${content.length}` }),
      });
      response.end(method === 'HEAD' ? undefined : content.subarray(part?.start, part?.end));
    } else if (method === 'DELETE' && key !== '') {
      objects.delete(key);
      response.writeHead(204).end();
    } else if (method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/xml' });
      endWith(response, listing(url.searchParams));
    } else if (method === 'POST' && url.searchParams.has('delete')) {
      if (headers['content-md5'] !== createHash('md5').update(body).digest('base64'))
        return refuse(400, 'BadDigest');
      for (const [, escaped = ''] of body.toString('utf8').matchAll(/<Key>([^<]*)<\/Key>/g))
        objects.delete(
          escaped.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
        );
      endWith(response, '<?xml version="1.0"?><DeleteResult></DeleteResult>');
    } else refuse(405, 'MethodNotAllowed');
  }

  function endWith(response: ServerResponse, xml: string): void {
    response.end(failure === 'cut' ? xml.slice(0, xml.length / 2) : xml);
  }

  function listing(query: URLSearchParams): string {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('start-after') ?? '';
    const max = Math.min(Number(query.get('max-keys') ?? 1000), 1000);
    const found = [...objects.keys()]
      .filter(
        (key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0,
      )
      .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const isUrl = query.get('encoding-type') === 'url';
    const contents = found
      .slice(0, max)
      .map((key) => `<Contents><Key>${isUrl ? encodeURIComponent(key) : key}</Key></Contents>`);
    return `<?xml version="1.0"?><ListBucketResult><Name>${bucket}</Name><KeyCount>${contents.length}</KeyCount><IsTruncated>${found.length > max}</IsTruncated>${contents.join('')}</ListBucketResult>`;
  }

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    basePath: `${origin}/${bucket}`,
    origin,
    bucket,
    region,
    accessKeyId: credentials.accessKeyId,
    secretAccessKey: credentials.secretAccessKey,
    objects,
    headers: headersOf,
    refusals,
    get openUploads() {
      return uploads.open.size;
    },
    get requests() {
      return requests;
    },
    serve(next) {
      beside = next;
    },
    fail(next) {
      failure = next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function tagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}
