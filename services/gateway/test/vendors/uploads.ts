/**
 * Uploads in parts, as OpenAI and Azure judge them: https://platform.openai.com/docs/api-reference/uploads and
 * https://learn.microsoft.com/azure/ai-foundry/openai/reference
 */
import { createHash } from 'node:crypto';
import { json, type RecordedRequest, type UpstreamReply } from '@sluice/testkit';
import { z } from 'zod';
import { Refused, readBody } from './strict.ts';

const created = z.strictObject({
  bytes: z.int().min(1),
  filename: z.string().min(1),
  mime_type: z.string().min(1),
  purpose: z.enum(['assistants', 'batch', 'fine-tune', 'vision', 'user_data']),
  expires_after: z.strictObject({ anchor: z.literal('created_at'), seconds: z.int() }).optional(),
});
const completed = z.strictObject({
  part_ids: z.array(z.string()).min(1),
  md5: z.string().optional(),
});

interface Upload extends z.infer<typeof created> {
  status: 'pending' | 'completed' | 'cancelled';
  fileId?: string;
  readonly parts: Map<string, Buffer>;
}

const partBytesMax = 64 * 1024 * 1024;

/** @param keep makes a file of a content, and says its id */
export function uploadsVendor(keep: (content: Buffer) => string) {
  const uploads = new Map<string, Upload>();
  let parts = 0;
  const refuse = (message: string, status = 400) =>
    new Refused(status, {
      error: { message, type: 'invalid_request_error', param: null, code: null },
    });

  function answer(request: RecordedRequest, [id, verb]: readonly string[]): UpstreamReply {
    if (request.method !== 'POST') throw refuse('Method not allowed', 405);
    if (id === undefined) {
      const made = `upload_${uploads.size + 1}`;
      uploads.set(made, {
        ...readBody(request, created, refuse),
        status: 'pending',
        parts: new Map(),
      });
      return json(200, told(made));
    }
    const upload = uploads.get(id);
    if (upload === undefined) throw refuse(`No such Upload object: ${id}`, 404);
    if (upload.status !== 'pending') throw refuse(`Upload has status '${upload.status}'.`);
    if (verb === 'parts') return addPart(request, id, upload);
    if (verb === 'cancel') upload.status = 'cancelled';
    else if (verb === 'complete') complete(upload, readBody(request, completed, refuse));
    else throw refuse(`no path ${request.path}`, 404);
    return json(200, told(id));
  }

  function addPart({ body, headers }: RecordedRequest, id: string, upload: Upload): UpstreamReply {
    const [, boundary = ''] = /boundary=(\S+)/.exec(headers['content-type'] ?? '') ?? [];
    const text = body.toString('latin1');
    const [, , data] =
      new RegExp(`name="data"(;[^\r\n]*)?[\\s\\S]*?\r\n\r\n([\\s\\S]*)\r\n--${boundary}--`).exec(
        text,
      ) ?? [];
    if (data === undefined) throw refuse("Missing required parameter: 'data'.");
    if (data.length > partBytesMax) throw refuse('Part is larger than 64 MB', 413);
    const partId = `part_${++parts}`;
    upload.parts.set(partId, Buffer.from(data, 'latin1'));
    return json(200, { id: partId, object: 'upload.part', created_at: 1, upload_id: id });
  }

  function complete(upload: Upload, { part_ids, md5 }: z.infer<typeof completed>): void {
    const content = Buffer.concat(
      part_ids.map((partId) => {
        const part = upload.parts.get(partId);
        if (part === undefined) throw refuse(`No such part: ${partId}`);
        return part;
      }),
    );
    if (content.length !== upload.bytes)
      throw refuse(`Expected ${upload.bytes} bytes, got ${content.length}.`);
    if (md5 !== undefined && createHash('md5').update(content).digest('hex') !== md5)
      throw refuse('MD5 does not match.');
    upload.status = 'completed';
    upload.fileId = keep(content);
  }

  function told(id: string) {
    const { parts: _parts, fileId, bytes, filename, purpose, status } = uploads.get(id) as Upload;
    const file = { id: fileId, object: 'file', bytes, filename, purpose, status: 'processed' };
    return {
      id,
      object: 'upload',
      bytes,
      filename,
      purpose,
      status,
      created_at: 1,
      expires_at: 3601,
      ...(fileId !== undefined && { file }),
    };
  }

  return (request: RecordedRequest, segments: readonly string[]): UpstreamReply => {
    try {
      return answer(request, segments);
    } catch (error) {
      if (error instanceof Refused) return error.reply;
      throw error;
    }
  };
}
