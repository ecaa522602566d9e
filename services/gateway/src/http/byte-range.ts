export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

const pattern = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** Whether a `Range` header asks for one part; of anything else, as of one that ends before it begins, the whole is sent. */
export function asksForPart(header: string | undefined): header is string {
  if (header === undefined || header === 'bytes=-') return false;
  const [found, first = '', last = ''] = pattern.exec(header) ?? [];
  return found !== undefined && (first === '' || last === '' || Number(first) <= Number(last));
}

/** https://www.rfc-editor.org/rfc/rfc9110#name-byte-ranges; undefined = there is nothing of it. */
export function byteRange(header: string, bytes: number): ByteRange | undefined {
  const [, first = '', last = ''] = pattern.exec(header) ?? [];
  const offset = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  return offset < end ? { offset, length: end - offset } : undefined;
}
