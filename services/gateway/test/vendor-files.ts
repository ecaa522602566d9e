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
