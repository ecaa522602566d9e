/** A value as DER writes it. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
}

export const derTags = {
  integer: 0x02,
  octets: 0x04,
  objectId: 0x06,
  sequence: 0x30,
} as const;

/**
 * What stands in a sequence, one after the other; undefined when it is not DER
 * to the last byte. Tags of one byte, lengths below 64 KiB: keys have no others.
 */
export function readElements(bytes: Buffer): DerElement[] | undefined {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] as number;
    let length = bytes[at + 1];
    if (length === undefined || (tag & 0x1f) === 0x1f) return undefined;
    at += 2;
    if (length >= 0x80) {
      const count = length & 0x7f;
      if (count < 1 || count > 2 || at + count > bytes.length) return undefined;
      length = bytes.readUIntBE(at, count);
      // One length has one spelling.
      if (length < (count === 1 ? 0x80 : 0x100)) return undefined;
      at += count;
    }
    if (at + length > bytes.length) return undefined;
    elements.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return elements;
}

/** The parts of the one sequence that `bytes` are. */
export function readSequence(bytes: Buffer): DerElement[] | undefined {
  const elements = readElements(bytes);
  const [only] = elements ?? [];
  return elements?.length === 1 && only?.tag === derTags.sequence
    ? readElements(only.content)
    : undefined;
}

/** A number that is not negative, without the zeros it may begin with; undefined when it is none. */
export function readUnsigned(element: DerElement | undefined): Buffer | undefined {
  if (element?.tag !== derTags.integer) return undefined;
  const { content } = element;
  if (content.length === 0 || (content[0] as number) >= 0x80) return undefined;
  const first = content.findIndex((byte) => byte !== 0);
  return first < 0 ? Buffer.alloc(0) : content.subarray(first);
}

/** The bytes of an object identifier as hex, which is all that telling them apart takes. */
export function readObjectId(element: DerElement | undefined): string | undefined {
  return element?.tag === derTags.objectId ? element.content.toString('hex') : undefined;
}

/** What stands in this sequence; nothing where it is none. */
export function partsOf(element: DerElement | undefined): readonly DerElement[] {
  return (element?.tag === derTags.sequence ? readElements(element.content) : undefined) ?? [];
}
