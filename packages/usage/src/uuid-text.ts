/** The usual text form of the 16 bytes that records hold; none is the empty text. */
export function uuidText(id: Uint8Array): string {
  if (id.length === 0) return '';
  const bytes = Buffer.isBuffer(id) ? id : Buffer.from(id.buffer, id.byteOffset, 16);
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether this is the text form, of whatever version and case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
