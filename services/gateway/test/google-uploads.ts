import { json, type RecordedRequest, type UpstreamReply } from '@sluice/testkit';

/** What Google's resumable uploads have taken. */
export interface GoogleUploads {
  answer(request: RecordedRequest): UpstreamReply;
  /** @param name  `files/…` */
  contentOf(name: string): Buffer | undefined;
}

interface Upload {
  readonly path: string;
  readonly length: number;
  readonly about: object;
  content: Buffer;
}

/** Google takes pieces of so much alone, but for the last: https://ai.google.dev/gemini-api/docs/files, `x-goog-upload-chunk-granularity`. */
const granularity = 256 * 1024;

/**
 * Google's uploads, with what they refuse: the answer to `start` names an address of its own host, and the bytes go
 * there in pieces, each where the last one ended, until one is the last.
 * @param made  hears the id of each file
 */
export function googleUploads(made: (id: string) => void = () => {}): GoogleUploads {
  const open = new Map<string, Upload>();
  const files = new Map<string, Buffer>();

  return { answer, contentOf: (name) => files.get(name) };

  function answer({ path, headers, body }: RecordedRequest): UpstreamReply {
    const { pathname, searchParams } = new URL(path, 'https://google.invalid');
    const command = headers['x-goog-upload-command'];
    if (command === 'start') {
      if (headers['x-goog-upload-protocol'] !== 'resumable')
        return refused(400, 'The protocol of an upload is resumable.');
      const length = Number(headers['x-goog-upload-header-content-length'] ?? Number.NaN);
      const about = (JSON.parse(body.toString()) as { file?: object }).file ?? {};
      const id = `ABg5-${open.size + 1}`;
      open.set(id, { path: pathname, length, about, content: Buffer.alloc(0) });
      return json(200, '', {
        'x-goog-upload-url': `http://${headers.host}${pathname}?upload_id=${id}&upload_protocol=resumable`,
        'x-goog-upload-status': 'active',
        'x-goog-upload-chunk-granularity': String(granularity),
      });
    }
    const upload = open.get(searchParams.get('upload_id') ?? '');
    if (upload === undefined || upload.path !== pathname)
      return refused(404, 'There is no such upload.');
    if (command === 'query')
      return json(200, '', {
        'x-goog-upload-status': 'active',
        'x-goog-upload-size-received': String(upload.content.length),
      });
    if (Number(headers['x-goog-upload-offset']) !== upload.content.length)
      return refused(400, `The upload goes on at ${upload.content.length}.`);
    const isLast = command === 'upload, finalize';
    if (!isLast && (command !== 'upload' || body.length % granularity !== 0))
      return refused(400, `Pieces are multiples of ${granularity}.`);
    upload.content = Buffer.concat([upload.content, body]);
    if (!isLast) return json(200, '', { 'x-goog-upload-status': 'active' });
    if (!(upload.content.length === upload.length)) return refused(400, 'Another length was told.');
    return json(200, done(upload), { 'x-goog-upload-status': 'final' });
  }

  function done({ path, about, content }: Upload): object {
    const store = /\/(fileSearchStores\/[^/:]+):uploadToFileSearchStore$/.exec(path)?.[1];
    if (store !== undefined) return { name: `${store}/upload/operations/one`, done: true };
    const id = `file-${files.size + 1}`;
    const name = `files/${id}`;
    files.set(name, content);
    made(id);
    const uri = `https://generativelanguage.googleapis.com/v1beta/${name}`;
    return { file: { ...about, name, uri, state: 'ACTIVE', sizeBytes: String(content.length) } };
  }
}

function refused(code: number, message: string): UpstreamReply {
  return json(code, {
    error: { code, message, status: code === 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT' },
  });
}
