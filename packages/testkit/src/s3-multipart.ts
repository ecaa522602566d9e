import { createHash, randomUUID } from 'node:crypto';

/** An upload in parts that was begun and not ended. */
interface OpenUpload {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Map<number, { readonly tag: string; readonly content: Buffer }>;
}

export type PartAnswer =
  | { readonly status: number; readonly fault: string }
  | { readonly tag: string }
  | { readonly body: string }
  | { readonly done: { key: string; content: Buffer; headers: OpenUpload['headers'] } };

const partBytesMin = 5 * 1024 * 1024;

/**
 * Uploads in parts, as S3 judges them: https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html.
 * Undefined = the request is about none.
 */
export class OpenUploads {
  /** By their ids. */
  readonly open = new Map<string, OpenUpload>();

  answer(
    method: string,
    key: string,
    query: URLSearchParams,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
  ): PartAnswer | undefined {
    if (method === 'POST' && query.has('uploads')) return this.#begin(key, headers);
    const id = query.get('uploadId');
    if (id === null) return undefined;
    const upload = this.open.get(id);
    if (upload === undefined || upload.key !== key) return { status: 404, fault: 'NoSuchUpload' };
    if (method === 'DELETE') {
      this.open.delete(id);
      return { body: '' };
    }
    if (method === 'PUT') return this.#take(upload, Number(query.get('partNumber')), headers, body);
    return this.#end(id, upload, body.toString('utf8'));
  }

  #begin(key: string, headers: OpenUpload['headers']): PartAnswer {
    const id = `${randomUUID()}&more`;
    this.open.set(id, { key, headers, parts: new Map() });
    return {
      body: `<InitiateMultipartUploadResult><Key>${key}</Key><UploadId>${id.replace('&', '&amp;')}</UploadId></InitiateMultipartUploadResult>`,
    };
  }

  #take(upload: OpenUpload, number: number, headers: OpenUpload['headers'], content: Buffer) {
    if (!Number.isInteger(number) || number < 1 || number > 10_000)
      return { status: 400, fault: 'InvalidArgument' };
    // What it is sealed with is said when it is begun, and at no part.
    if (Object.keys(headers).some((name) => name.startsWith('x-amz-server-side-encryption')))
      return { status: 400, fault: 'InvalidArgument' };
    const tag = `"${createHash('md5').update(content).digest('hex')}"`;
    upload.parts.set(number, { tag, content });
    return { tag };
  }

  #end(id: string, upload: OpenUpload, xml: string): PartAnswer {
    const named = [...xml.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g)].map(
      ([, number, tag = '']) => ({
        number: Number(number),
        tag: tag.replaceAll('&quot;', '"'),
      }),
    );
    if (named.length === 0) return { status: 400, fault: 'MalformedXML' };
    if (named.some(({ number }, index) => index > 0 && number <= (named[index - 1]?.number ?? 0)))
      return { status: 400, fault: 'InvalidPartOrder' };
    const contents: Buffer[] = [];
    for (const [index, { number, tag }] of named.entries()) {
      const part = upload.parts.get(number);
      if (part === undefined || part.tag !== tag) return { status: 400, fault: 'InvalidPart' };
      if (index < named.length - 1 && part.content.length < partBytesMin)
        return { status: 400, fault: 'EntityTooSmall' };
      contents.push(part.content);
    }
    this.open.delete(id);
    return { done: { key: upload.key, content: Buffer.concat(contents), headers: upload.headers } };
  }
}
