import { createHash } from 'node:crypto';

export interface OutgoingPart {
  name: string;
  filename?: string;
  contentType?: string;
  data: Buffer | string;
}

/**
 * A multipart/form-data body. The boundary is a digest of what it parts: it is
 * the same each time, and nobody can write it into a part beforehand.
 */
export function multipartBytes(parts: readonly OutgoingPart[]): {
  data: Buffer;
  contentType: string;
} {
  const digest = createHash('sha256');
  for (const { name, data } of parts) digest.update(name).update('\0').update(data).update('\0');
  const boundary = `sluice-${digest.digest('hex').slice(0, 32)}`;
  const pieces: Buffer[] = [];
  for (const part of parts) {
    pieces.push(
      Buffer.from(`--${boundary}\r\n${headers(part)}\r\n\r\n`),
      typeof part.data === 'string' ? Buffer.from(part.data) : part.data,
      Buffer.from('\r\n'),
    );
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    data: Buffer.concat(pieces),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

function headers({ name, filename, contentType }: OutgoingPart): string {
  const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`;
  const type = contentType === undefined ? '' : `\r\nContent-Type: ${oneLine(contentType)}`;
  return `Content-Disposition: form-data; name="${quoted(name)}"${file}${type}`;
}

/** As browsers write it: a name can neither end its quotes nor its line. */
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ');
}
