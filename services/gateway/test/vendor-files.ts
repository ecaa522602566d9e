import { bytes, json, type RecordedRequest, type UpstreamReply } from '@sluice/testkit';

/** The parts of a form as a vendor reads them: those of a file have a name and a type. */
export function partsOf({ headers, body }: RecordedRequest) {
  const boundary = /boundary=(\S+)/.exec(headers['content-type'] ?? '')?.[1] ?? '';
  return body
    .toString('latin1')
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n');
      const content = Buffer.from(rest.join('\r\n\r\n').replace(/\r\n$/, ''), 'latin1');
      return {
        name: /name="([^"]*)"/.exec(head)?.[1] ?? '',
        filename: /filename="([^"]*)"/.exec(head)?.[1],
        type: /content-type: (\S+)/i.exec(head)?.[1],
        content,
      };
    });
}

/** Anthropic's Files: content of what tools made alone. */
export function anthropicVendor() {
  const files = new Map<string, { document: Record<string, unknown>; content: Buffer }>();
  let made = 0;
  const refuse = (status: number, type: string, message: string) =>
    json(status, { type: 'error', error: { type, message }, request_id: 'req_1' });
  return (request: RecordedRequest): UpstreamReply => {
    const { method, path, headers } = request;
    if (headers['x-api-key'] !== 'sk-ant') return refuse(401, 'authentication_error', 'who?');
    if (headers['anthropic-version'] === undefined)
      return refuse(400, 'invalid_request_error', 'anthropic-version: header is required');
    const [, , root, id, below] = path.split('?')[0]?.split('/') ?? [];
    if (root !== 'files') return refuse(404, 'not_found_error', 'Not found');
    if (method === 'POST') {
      const [file, ...others] = partsOf(request);
      if (file?.name !== 'file' || others.length > 0)
        return refuse(400, 'invalid_request_error', 'file: Field required, and no other');
      made++;
      const document = {
        id: `file_011C${made}`,
        type: 'file',
        filename: file.filename,
        mime_type: file.type,
        size_bytes: file.content.length,
        created_at: '2026-11-03T10:00:00Z',
        downloadable: file.filename === 'made-by-a-tool.txt',
      };
      files.set(document.id, { document, content: file.content });
      return json(200, document);
    }
    if (id === undefined) {
      const data = [...files.values()].map(({ document }) => document);
      return json(200, { data, first_id: data[0]?.id, last_id: data.at(-1)?.id, has_more: false });
    }
    const found = files.get(id);
    if (found === undefined) return refuse(404, 'not_found_error', `File not found: ${id}`);
    if (method === 'DELETE') {
      files.delete(id);
      return json(200, { id, type: 'file_deleted' });
    }
    if (below !== 'content') return json(200, found.document);
    return found.document.downloadable === true
      ? bytes(200, found.content, { 'content-type': 'text/plain' })
      : refuse(400, 'invalid_request_error', 'File is not downloadable');
  };
}

/** Fireworks' datasets: made, filled at an address that is signed for its length, or in one request, and told so. */
export function fireworksVendor(
  signedAt: () => string,
  beside: (
    request: RecordedRequest,
    has: (dataset: string) => boolean,
  ) => UpstreamReply | undefined = () => undefined,
) {
  const sets = new Map<string, { content: Buffer | undefined; state: string; name: string }>();
  const refuse = (status: number, message: string) => json(status, { code: 3, message });
  return (request: RecordedRequest): UpstreamReply => {
    const { method, path, headers, body } = request;
    const signed = /^\/signed\/([^/?]+)\?size=(\d+)$/.exec(path);
    if (signed !== null) {
      if (headers.authorization !== undefined) return refuse(400, 'an address signed needs no key');
      const set = sets.get(signed[1] ?? '');
      if (method === 'GET') return bytes(200, set?.content ?? Buffer.alloc(0));
      const size = signed[2] ?? '';
      if (headers['x-goog-content-length-range'] !== `${size},${size}`)
        return refuse(403, 'SignatureDoesNotMatch');
      if (String(body.length) !== size) return refuse(400, 'EntityTooLarge');
      if (set !== undefined) set.content = body;
      return bytes(200, Buffer.alloc(0));
    }
    if (headers.authorization !== 'Bearer fw-key') return refuse(401, 'unauthenticated');
    const other = beside(request, (dataset) => sets.get(dataset)?.state === 'READY');
    if (other !== undefined) return other;
    const [, id = '', verb = ''] =
      /^\/v1\/accounts\/acme\/datasets(?:\/([^/:?]+))?(?::(\w+))?(?:\?.*)?$/.exec(path) ?? [];
    const told = (of: string) => {
      const set = sets.get(of);
      const name = `accounts/acme/datasets/${of}`;
      return {
        name,
        displayName: set?.name,
        state: set?.state,
        createTime: '2026-11-03T10:00:00Z',
      };
    };
    if (method === 'POST' && id === '') {
      const { datasetId, dataset } = request.json() as {
        datasetId: string;
        dataset: { displayName: string };
      };
      sets.set(datasetId, { content: undefined, state: 'UPLOADING', name: dataset.displayName });
      return json(200, told(datasetId));
    }
    if (id === '') return json(200, { datasets: [...sets.keys()].map(told), nextPageToken: '' });
    const set = sets.get(id);
    if (set === undefined) return refuse(404, `dataset ${id} not found`);
    if (verb === 'getUploadEndpoint') {
      const [[file = '', size] = []] = Object.entries(
        (request.json() as { filenameToSize: Record<string, number> }).filenameToSize,
      );
      return json(200, {
        filenameToSignedUrls: { [file]: `${signedAt()}/signed/${id}?size=${size}` },
      });
    }
    if (verb === 'getDownloadEndpoint')
      return json(200, { filenameToSignedUrls: { x: `${signedAt()}/signed/${id}?size=0` } });
    if (verb === 'upload') {
      set.content = partsOf(request).find(({ name }) => name === 'file')?.content;
      set.state = 'READY';
      return json(200, { id, object: 'file' });
    }
    if (verb === 'validateUpload') {
      if (set.content === undefined) return refuse(400, 'nothing was uploaded');
      set.state = 'READY';
      return json(200, {});
    }
    if (method === 'DELETE') {
      sets.delete(id);
      return json(200, {});
    }
    return json(200, told(id));
  };
}

/** Cohere's datasets: a name and a type in the query, the rows as `data`. */
export function cohereVendor() {
  const sets = new Map<string, object>();
  return (request: RecordedRequest): UpstreamReply => {
    const { method, path, headers } = request;
    if (headers.authorization !== 'Bearer co-key')
      return json(401, { message: 'invalid api token' });
    const url = new URL(path, 'http://cohere');
    const [, , , id] = url.pathname.split('/');
    if (!url.pathname.startsWith('/v1/datasets')) return json(404, { message: 'no route' });
    if (method === 'POST') {
      const [part] = partsOf(request);
      const type = url.searchParams.get('type') ?? '';
      if (!/^(?:embed-input|chat-finetune-input)$/.test(type) || part?.name !== 'data')
        return json(400, { message: 'invalid request: type and data are required' });
      const rows = part.content.toString().trim().split('\n');
      if (type === 'embed-input' && rows.some((row) => JSON.parse(row).text === undefined))
        return json(400, { message: 'schema validation failed: text is required' });
      const made = `ds-${sets.size + 1}`;
      sets.set(made, {
        id: made,
        name: url.searchParams.get('name'),
        dataset_type: type,
        validation_status: 'validated',
        created_at: '2026-11-03T10:00:00Z',
        dataset_parts: [{ id: 'p', name: 'part', size_bytes: part.content.length }],
      });
      return json(200, { id: made });
    }
    if (id === undefined) return json(200, { datasets: [...sets.values()] });
    const found = sets.get(id);
    if (found === undefined) return json(404, { message: `dataset ${id} not found` });
    if (method === 'DELETE') {
      sets.delete(id);
      return json(200, {});
    }
    return json(200, { dataset: found });
  };
}
