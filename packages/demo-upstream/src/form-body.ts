import type { IncomingMessage } from 'node:http';
import { isObject, VendorFault } from './protocol.ts';

/** What the endpoints get of a file: enough to speak of it. */
export interface DemoFile {
  filename: string;
  bytes: number;
}

/** A multipart body as the JSON that stands for it: texts, lists of texts, and what is known of files. */
export async function formAsJson(body: Buffer, request: IncomingMessage): Promise<string> {
  const contentType = request.headers['content-type'] ?? '';
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': contentType },
    }).formData();
  } catch {
    throw new VendorFault(400, 'Could not parse multipart form');
  }
  const fields: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name).map(fieldOf);
    fields[name] = values.length === 1 ? values[0] : values;
  }
  return JSON.stringify(fields);
}

function fieldOf(value: string | File): string | DemoFile {
  return typeof value === 'string' ? value : { filename: value.name, bytes: value.size };
}

export function isFile(value: unknown): value is DemoFile {
  return isObject(value) && typeof value.filename === 'string' && typeof value.bytes === 'number';
}
