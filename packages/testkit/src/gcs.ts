import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { byteRange } from './byte-range.ts';
import { keepAliveMs } from './keep-alive.ts';
import type { Beside } from './s3.ts';
import { recordedRequest } from './upstream.ts';

/** A bucket of Cloud Storage that lets in nobody without its token. */
export interface TestGcs {
  readonly origin: string;
  readonly bucket: string;
  readonly token: string;
  readonly objects: Map<string, { content: Buffer; type: string }>;
  /** Uploads that were begun, and neither ended nor cancelled. */
  readonly openUploads: number;
  /** Why requests were refused, oldest first. */
  readonly refusals: string[];
  /** What stands at the same origin: asked first, of every request; undefined = it is the bucket's. */
  serve(beside: Beside): void;
  /** Of the next chunk only this much is taken, and the rest has to come again. */
  takeNext(bytes: number): void;
  close(): Promise<void>;
}

interface Session {
  readonly name: string;
  readonly type: string;
  held: Buffer;
}

const unitBytes = 256 * 1024;

/**
 * As https://docs.cloud.google.com/storage/docs/performing-resumable-uploads has it: chunks in order, in whole units
 * but for the last, and an end that says how long it all is.
 */
export async function startGcs(): Promise<TestGcs> {
  const bucket = 'sluice-files';
  const token = 'ya29.token-of-the-bucket';
  const objects: TestGcs['objects'] = new Map();
  const sessions = new Map<string, Session>();
  const refusals: string[] = [];
  let taken: number | undefined;
  let beside: Beside = () => undefined;

  const described = (name: string) => ({
    kind: 'storage#object',
    name,
    bucket,
    size: String(objects.get(name)?.content.length ?? 0),
    contentType: objects.get(name)?.type,
    timeCreated: '2026-11-03T10:00:00.000Z',
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const other = beside(recordedRequest(incoming, body));
    if (other !== undefined) return other.send(response, new AbortController().signal);
    const { method = '', headers } = incoming;
    const url = new URL(incoming.url ?? '/', origin);
    const json = (status: number, document: object, further = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...further });
      response.end(JSON.stringify(document));
    };
    const refuse = (code: number, message: string) => {
      refusals.push(message);
      json(code, { error: { code, message, errors: [{ message, reason: 'invalid' }] } });
    };
    if (headers.authorization !== `Bearer ${token}`) return refuse(401, 'Invalid Credentials');
    const session = sessions.get(url.searchParams.get('upload_id') ?? '');
    if (url.pathname === `/upload/storage/v1/b/${bucket}/o`) {
      if (method === 'POST') {
        const name = url.searchParams.get('name') ?? '';
        if (url.searchParams.get('uploadType') !== 'resumable' || name === '')
          return refuse(400, 'Required parameter: name');
        const id = randomUUID();
        const type = String(headers['x-upload-content-type'] ?? '');
        sessions.set(id, { name, type, held: Buffer.alloc(0) });
        return json(
          200,
          {},
          { location: `${origin}${url.pathname}?uploadType=resumable&upload_id=${id}` },
        );
      }
      if (session === undefined) return refuse(404, 'No such upload');
      const end = () => sessions.delete(url.searchParams.get('upload_id') ?? '');
      if (method === 'DELETE') {
        end();
        response.writeHead(499).end();
        return;
      }
      const range = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(headers['content-range'] ?? '');
      if (range === null) return refuse(400, 'Invalid Content-Range');
      const [, first, last, total] = range;
      if (first !== undefined) {
        if (Number(last) - Number(first) + 1 !== body.length) return refuse(400, 'Wrong length');
        if (Number(first) !== session.held.length) return refuse(503, 'Not where it went on');
        if (total === '*' && body.length % unitBytes !== 0) return refuse(400, 'Not in units');
        session.held = Buffer.concat([session.held, body.subarray(0, taken)]);
        taken = undefined;
      }
      if (total !== '*' && Number(total) === session.held.length) {
        objects.set(session.name, { content: session.held, type: session.type });
        end();
        return json(200, described(session.name));
      }
      const held = session.held.length;
      response.writeHead(308, held === 0 ? {} : { range: `bytes=0-${held - 1}` }).end();
      return;
    }
    const name = decodeURIComponent(
      new RegExp(`^/storage/v1/b/${bucket}/o/([^/]+)$`).exec(url.pathname)?.[1] ?? '',
    );
    const object = objects.get(name);
    if (object === undefined) return refuse(404, `No such object: ${bucket}/${name}`);
    if (method === 'DELETE') {
      objects.delete(name);
      response.writeHead(204).end();
    } else if (url.searchParams.get('alt') === 'media') {
      const part = byteRange(headers.range, object.content.length);
      if (part === 'unsatisfiable') return refuse(416, 'Requested range not satisfiable');
      const content = object.content.subarray(part?.start, part?.end);
      response.writeHead(part === undefined ? 200 : 206, {
        'content-type': object.type,
        'content-length': content.length,
        ...(part && {
          'content-range': `bytes ${part.start}-${part.end - 1}/${object.content.length}`,
        }),
      });
      response.end(content);
    } else json(200, described(name));
  }

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    bucket,
    token,
    objects,
    refusals,
    get openUploads() {
      return sessions.size;
    },
    serve(next) {
      beside = next;
    },
    takeNext(bytes) {
      taken = bytes;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
