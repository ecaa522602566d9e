/** What Parquet's headers are made of, in Thrift's compact protocol: no more than they need. */
export type Thrift =
  | { readonly i32: number }
  | { readonly i64: number }
  | { readonly text: string }
  | { readonly list: readonly Thrift[] }
  /** By the numbers of its fields, ascending. */
  | { readonly struct: Readonly<Record<number, Thrift>> };

export function encodeThrift(value: Thrift): Buffer {
  const bytes: number[] = [];
  write(value, bytes);
  return Buffer.from(bytes);
}

const types = { i32: 5, i64: 6, text: 8, list: 9, struct: 12 } as const;

function typeOf(value: Thrift): number {
  return types[Object.keys(value)[0] as keyof typeof types];
}

function write(value: Thrift, to: number[]): void {
  if ('struct' in value) writeStruct(value.struct, to);
  else if ('list' in value) writeList(value.list, to);
  else if ('text' in value) {
    const text = Buffer.from(value.text);
    writeVarint(text.length, to);
    to.push(...text);
  } else {
    // Zigzag of what is never negative here.
    writeVarint(('i32' in value ? value.i32 : value.i64) * 2, to);
  }
}

function writeStruct(fields: Readonly<Record<number, Thrift>>, to: number[]): void {
  let last = 0;
  for (const [name, value] of Object.entries(fields)) {
    const id = Number(name);
    // The number as the distance from the one before: none of Parquet's is above 15.
    to.push(((id - last) << 4) | typeOf(value));
    write(value, to);
    last = id;
  }
  to.push(0);
}

function writeList(items: readonly Thrift[], to: number[]): void {
  const type = items[0] === undefined ? types.struct : typeOf(items[0]);
  if (items.length < 15) to.push((items.length << 4) | type);
  else {
    to.push(0xf0 | type);
    writeVarint(items.length, to);
  }
  for (const item of items) write(item, to);
}

/** Not by bits: those of numbers end at 32. */
function writeVarint(value: number, to: number[]): void {
  let rest = value;
  while (rest >= 128) {
    to.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  to.push(rest);
}
