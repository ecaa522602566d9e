/** One span to be: the record as it went to the ledger, and its content where that may be told. */
export interface BatchedSpan {
  readonly record: Buffer;
  /** As segments of the content have it. */
  readonly content: Buffer | undefined;
  /** Its own span is told by another: this one is of a hook that ended later. */
  readonly isLateHook: boolean;
}

/** What a span takes in a batch beside its bytes: what it is, and two lengths. */
const headerBytes = 9;

export function batchedBytes(record: Uint8Array, content: Uint8Array | undefined): number {
  return headerBytes + record.length + (content?.length ?? 0);
}

/** `[is a late hook u8][length of the record u32][length of its content u32][record][content]`; returns where the next one goes. */
export function writeSpan(
  batch: Uint8Array,
  at: number,
  record: Uint8Array,
  content: Uint8Array | undefined,
  isLateHook: boolean,
): number {
  const view = new DataView(batch.buffer, batch.byteOffset);
  view.setUint8(at, Number(isLateHook));
  view.setUint32(at + 1, record.length, true);
  view.setUint32(at + 5, content?.length ?? 0, true);
  batch.set(record, at + headerBytes);
  if (content !== undefined) batch.set(content, at + headerBytes + record.length);
  return at + batchedBytes(record, content);
}

export function* spansIn(batch: Uint8Array): Generator<BatchedSpan> {
  const bytes = Buffer.from(batch.buffer, batch.byteOffset, batch.length);
  for (let at = 0; at < bytes.length; ) {
    const recordEnd = at + headerBytes + bytes.readUInt32LE(at + 1);
    const contentEnd = recordEnd + bytes.readUInt32LE(at + 5);
    yield {
      record: bytes.subarray(at + headerBytes, recordEnd),
      content: contentEnd > recordEnd ? bytes.subarray(recordEnd, contentEnd) : undefined,
      isLateHook: bytes[at] === 1,
    };
    at = contentEnd;
  }
}
