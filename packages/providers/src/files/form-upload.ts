import type { ArrivingFile } from '../vendor-files.ts';

export interface FormRules {
  /** The file's own field; `file` when absent. */
  readonly field?: string;
  /** The form's other texts; asked when all of what the caller sent is known, and so they follow the file. */
  fields(texts: ReadonlyMap<string, string>): Readonly<Record<string, string>>;
}

/**
 * A form for a vendor with the file that is arriving, sent on as it comes.
 * @param name  letters, digits and hyphens that no file has in it: what parts are told from each other by
 */
export function formUpload(
  { filename, contentType, content, ended }: ArrivingFile,
  name: string,
  { field = 'file', fields }: FormRules,
): { contentType: string; body: AsyncIterable<Buffer> } {
  const boundary = `sluice-${name}`;
  async function* body() {
    const type = contentType ?? 'application/octet-stream';
    yield Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${quoted(filename || 'file')}"\r\ncontent-type: ${type.replaceAll(/[^\x20-\x7e]/g, '')}\r\n\r\n`,
    );
    yield* content;
    const texts = await ended;
    let rest = '';
    for (const [text, value] of Object.entries(fields(texts)))
      rest += `\r\n--${boundary}\r\ncontent-disposition: form-data; name="${quoted(text)}"\r\n\r\n${value}`;
    yield Buffer.from(`${rest}\r\n--${boundary}--\r\n`);
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: body() };
}

/** As browsers write it: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
