import type { ExportField } from '@sluice/contracts/admin';
import type { Thrift } from './thrift.ts';

/** How a field is kept as a column: its physical type, what that means, and its values in the plain encoding. */
export interface ColumnType {
  readonly physical: number;
  readonly converted?: number;
  encode(values: readonly unknown[]): Buffer;
}

const text: ColumnType = { physical: 6, converted: 0, encode: encodeTexts };
/** As text, which all readers take; some make types of their own of what is marked as JSON. */
const json: ColumnType = {
  physical: 6,
  converted: 0,
  encode: (values) => encodeTexts(values.map((value) => JSON.stringify(value))),
};
const whole: ColumnType = { physical: 2, encode: encodeWholes };
const instant: ColumnType = {
  physical: 2,
  converted: 9,
  encode: (values) => encodeWholes(values.map((value) => Date.parse(String(value)))),
};
const real: ColumnType = {
  physical: 5,
  encode(values) {
    const bytes = Buffer.allocUnsafe(values.length * 8);
    for (const [at, value] of values.entries()) bytes.writeDoubleLE(Number(value), at * 8);
    return bytes;
  },
};
const truth: ColumnType = {
  physical: 0,
  encode(values) {
    const bytes = Buffer.alloc(Math.ceil(values.length / 8));
    for (const [at, value] of values.entries())
      if (value === true) bytes[at >> 3] = bytes[at >> 3]! | (1 << (at & 7));
    return bytes;
  },
};

export const columnTypes: Readonly<Record<ExportField, ColumnType>> = {
  id: text,
  trace_id: text,
  created_at: instant,
  request: json,
  response: json,
  is_success: truth,
  ai_org: text,
  ai_model: text,
  req_units: whole,
  res_units: whole,
  total_units: whole,
  request_url: text,
  cost: real,
  cost_known: truth,
  cost_currency: text,
  response_time: whole,
  response_status_code: whole,
  mode: text,
  config: text,
  prompt_slug: text,
  metadata: json,
  call: json,
};

/** Every field has a value in every row: all columns are required ones. */
export function schemaOf(fields: readonly ExportField[]): Thrift {
  const root: Thrift = { struct: { 4: { text: 'logs' }, 5: { i32: fields.length } } };
  const columns = fields.map((field): Thrift => {
    const { physical, converted } = columnTypes[field];
    const column = { 1: { i32: physical }, 3: { i32: 0 }, 4: { text: field } };
    return { struct: converted === undefined ? column : { ...column, 6: { i32: converted } } };
  });
  return { list: [root, ...columns] };
}

function encodeTexts(values: readonly unknown[]): Buffer {
  const texts = values.map((value) => Buffer.from(String(value)));
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, { length }) => sum + 4 + length, 0));
  let at = 0;
  for (const each of texts) {
    at = bytes.writeUInt32LE(each.length, at);
    at += each.copy(bytes, at);
  }
  return bytes;
}

function encodeWholes(values: readonly unknown[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 8);
  for (const [at, value] of values.entries())
    bytes.writeBigInt64LE(BigInt(Math.round(Number(value))), at * 8);
  return bytes;
}
