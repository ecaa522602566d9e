import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

export interface MessageBounds {
  /** Messages within the message, of any kind. */
  readonly messagesMax: number;
  /** Levels of them within each other. */
  readonly depthMax: number;
}

/**
 * Whether reading these bytes would build more than that: two bytes are enough
 * for a message, which takes a hundred times as much memory. Builds nothing.
 * @throws Error where the bytes are no message
 */
export function exceedsBounds(
  schema: DescMessage,
  bytes: Uint8Array,
  { messagesMax, depthMax }: MessageBounds,
): boolean {
  const reader = new BinaryReader(bytes);
  /** Where each message that is open ends, and what it is. */
  const open: { readonly schema: DescMessage; readonly end: number }[] = [
    { schema, end: bytes.length },
  ];
  let messages = 0;
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (reader.pos > top.end) throw new Error('a message ends beyond the one that it is in');
    if (reader.pos === top.end) {
      open.pop();
      continue;
    }
    const [number, wireType] = reader.tag();
    const inner =
      wireType === WireType.LengthDelimited ? messagesOf(top.schema).get(number) : undefined;
    if (inner === undefined) {
      reader.skip(wireType, number);
      continue;
    }
    const length = reader.uint32();
    messages++;
    if (messages > messagesMax || open.length > depthMax) return true;
    open.push({ schema: inner, end: reader.pos + length });
  }
  return false;
}

const fields = new WeakMap<DescMessage, ReadonlyMap<number, DescMessage>>();

/** The fields that are messages. */
function messagesOf(schema: DescMessage): ReadonlyMap<number, DescMessage> {
  const known = fields.get(schema);
  if (known !== undefined) return known;
  const made = new Map(
    schema.fields.flatMap((field) =>
      field.message === undefined ? [] : [[field.number, field.message] as const],
    ),
  );
  fields.set(schema, made);
  return made;
}
