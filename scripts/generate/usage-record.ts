import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';

/** How a field stands in the gateway's record, and in a row of the ledger. */
interface FieldCode {
  type: string;
  empty: string;
  /** The method of ProtoWriter that takes it. */
  write: 'text' | 'bytes' | 'uint' | 'sint' | 'bool' | 'double' | 'pair' | 'count' | 'texts';
  /** What makes its column in the ledger. */
  column: (field: DescField) => string;
}

/** Texts of which nearly every row has its own; of the others there are few, and a dictionary holds them. */
const ownTexts: ReadonlySet<string> = new Set([
  'trace_id',
  'span_id',
  'parent_span_id',
  'api_key_id',
  'user_id',
  'request_url',
  'decision_json',
  'rpc_id',
  'capability_name',
  'tool_error',
  'session_id',
  'task_id',
  'context_id',
]);

/** Counts by names that are each row's own. */
const ownCounts: ReadonlySet<string> = new Set(['counters_reserved', 'counters_settled']);

const text: FieldCode = {
  type: 'string',
  empty: "''",
  write: 'text',
  column: ({ name }) => (ownTexts.has(name) ? 'new Texts()' : 'new FewTexts()'),
};
const number32: FieldCode = {
  type: 'number',
  empty: '0',
  write: 'uint',
  column: () => "new Integers32('UInt32')",
};
const number64: FieldCode = { ...number32, column: () => "new Integers64('UInt64')" };

const scalars: Partial<Record<ScalarType, FieldCode>> = {
  [ScalarType.STRING]: text,
  [ScalarType.BOOL]: {
    type: 'boolean',
    empty: 'false',
    write: 'bool',
    column: () => 'new Bools()',
  },
  [ScalarType.DOUBLE]: {
    type: 'number',
    empty: '0',
    write: 'double',
    column: () => 'new Doubles()',
  },
  [ScalarType.UINT32]: number32,
  [ScalarType.UINT64]: number64,
  [ScalarType.SINT32]: { ...number32, write: 'sint', column: () => "new Integers32('Int32')" },
  [ScalarType.SINT64]: { ...number32, write: 'sint', column: () => "new Integers64('Int64')" },
  [ScalarType.BYTES]: {
    type: 'Buffer',
    empty: 'noBytes',
    write: 'bytes',
    column: ({ name }) => `new Ids('${name}')`,
  },
};

/** A time in Unix ms, the one int64 there is: others would need a writer for what is negative. */
const time: FieldCode = {
  ...number32,
  column: ({ name }) => `new Times('${name}')`,
};

const outcome: FieldCode = { ...number32, column: () => 'new NamesOfEnum(outcomeName)' };

const metadata: FieldCode = {
  type: 'Readonly<Record<string, string>>',
  empty: 'noTexts',
  write: 'pair',
  column: () => 'new MapsOfTexts()',
};

const counts: FieldCode = {
  type: 'Counts',
  empty: 'noCounts',
  write: 'count',
  column: ({ name }) => (ownCounts.has(name) ? 'new MapsOfCounts()' : 'new MapsOfFewCounts()'),
};

const texts: FieldCode = {
  type: 'readonly string[]',
  empty: 'noList',
  write: 'texts',
  column: () => 'new ListsOfTexts()',
};

function codeOf(field: DescField): FieldCode {
  if (field.fieldKind === 'enum' && field.enum === usage.OutcomeSchema) return outcome;
  if (
    field.fieldKind === 'map' &&
    field.mapKey === ScalarType.STRING &&
    field.scalar === ScalarType.STRING
  )
    return metadata;
  if (
    field.fieldKind === 'map' &&
    field.mapKey === ScalarType.STRING &&
    field.scalar === ScalarType.UINT64
  )
    return counts;
  if (field.fieldKind === 'list' && field.scalar === ScalarType.STRING) return texts;
  const isTime = field.fieldKind === 'scalar' && field.scalar === ScalarType.INT64;
  if (isTime && field.name.endsWith('_at_ms')) return time;
  const code = field.fieldKind === 'scalar' ? scalars[field.scalar] : undefined;
  if (code === undefined)
    throw new Error(
      `usage.proto: ${field.name} has a type without a rule in ${import.meta.filename}`,
    );
  return code;
}

const fields = usage.UsageRecordSchema.fields.map((field) => ({
  field,
  name: field.localName,
  code: codeOf(field),
}));

/**
 * What a gateway knows of an attempt when it begins, and does not change: written
 * once for the entry that begins it and for its record. A field that is not listed is written for both.
 */
const opening: ReadonlySet<string> = new Set(
  `id request_id trace_id span_id parent_span_id span_name replica_id sequence created_at_ms organisation_id
  workspace_id workspace_slug api_key_id user_id method request_url endpoint is_proxy_call stream provider
  provider_slug model config_id config_slug config_version_id bundle_hash option_path strategy_mode attempt
  retry_count cache_status metadata entry_id request_parsing_ms pre_processing_ms cache_processing_ms prompt_id
  prompt_slug prompt_version_id source runtime runtime_version sdk_version gateway_version rpc_method rpc_id
  capability_name transport_client auth_type`.split(/\s+/),
);

for (const name of opening)
  if (!fields.some(({ field }) => field.name === name))
    throw new Error(`usage.proto: there is no field ${name}, which ${import.meta.filename} lists`);

const head = `// Written by \`npm run generate\` from proto/sluice/usage/v1/usage.proto, never by hand.\n`;

function writeLine(field: DescField, { write }: FieldCode): string {
  const { localName: name, number } = field;
  switch (write) {
    case 'pair':
      return entries(name, `out.pair(${number}, key, record.${name}[key] ?? '');`);
    case 'count':
      return `out.counts(${number}, record.${name});`;
    case 'texts':
      return `for (const value of record.${name}) out.text(${number}, value);`;
    default:
      return `out.${write}(${number}, record.${name});`;
  }
}

/** On one line where the formatter leaves it there. */
function entries(name: string, write: string): string {
  const head = `for (const key in record.${name})`;
  return head.length + write.length < 96 ? `${head} ${write}` : `${head}\n      ${write}`;
}

function writeLines(isOpening: boolean): string {
  return fields
    .filter(({ field }) => opening.has(field.name) === isOpening)
    .map(({ field, code }) => `    ${writeLine(field, code)}`)
    .join('\n');
}

/** `packages/usage/src/record.gen.ts`. */
export function usageRecordSource(): string {
  return `${head}import { type Counts, ProtoWriter } from './proto-writer.ts';

/** One attempt as the ledger keeps it. What the fields mean stands in the proto. */
export interface UsageRecord {
${fields.map(({ name, code }) => `  ${name}: ${code.type};`).join('\n')}
}

/** What is written once, when its attempt begins: see \`RecordEncoder.opening\`. */
type OpeningField =
${fields
  .filter(({ field }) => opening.has(field.name))
  .map(({ name }) => `  | '${name}'`)
  .join('\n')};

/** A record whose begin is written: what that says stands. */
export type BegunRecord = Readonly<Pick<UsageRecord, OpeningField>> &
  Omit<UsageRecord, OpeningField>;

const noBytes = Buffer.alloc(0);
const noTexts: UsageRecord['metadata'] = Object.freeze({});
const noCounts: Counts = new Map();
const noList: readonly string[] = Object.freeze([]);

export function emptyRecord(): UsageRecord {
  return {
${fields.map(({ name, code }) => `    ${name}: ${code.empty},`).join('\n')}
  };
}

export class RecordEncoder {
  readonly #out = new ProtoWriter();

  /**
   * The bytes are only valid until the next call.
   * @param opening of the same attempt: what it holds is not written again
   */
  encode(record: UsageRecord, opening?: Buffer): Buffer {
    const out = this.#out;
    out.reset();
    if (opening === undefined) this.#open(record);
    else out.encoded(opening);
${writeLines(false)}
    return out.written();
  }

  /** What stands when an attempt begins, to be given to \`encode\` for both of its entries. */
  opening(record: UsageRecord): Buffer {
    this.#out.reset();
    this.#open(record);
    return Buffer.from(this.#out.written());
  }

  #open(record: UsageRecord): void {
    const out = this.#out;
${writeLines(true)}
  }
}
`;
}

/** `created_at_ms` is a number on the wire and a time in its column. */
const columnOf = ({ name }: DescField) => name.replace(/_at_ms$/, '_at');

/** `services/data-service/src/sinks/usage-columns.gen.ts`. */
export function usageColumnsSource(): string {
  const lines = (line: (field: DescField, code: FieldCode) => string) =>
    fields.map(({ field, code }) => `  ${line(field, code)}`).join('\n');
  return `${head}
import { FewTexts } from '../columns/few-texts.ts';
import { Ids } from '../columns/ids.ts';
import { ListsOfTexts, MapsOfCounts, MapsOfFewCounts, MapsOfTexts } from '../columns/lists.ts';
import { NamesOfEnum } from '../columns/names-of-enum.ts';
import { Bools, Doubles, Integers32, Integers64 } from '../columns/numbers.ts';
import { Texts } from '../columns/texts.ts';
import { Times } from '../columns/times.ts';
import { outcomeName } from './column-values.ts';

/** A column of \`usage_records\` for each field of the record. */
export class UsageColumns {
${lines((field, code) => `readonly ${columnOf(field)} = ${code.column(field)};`)}
}
`;
}

/** `services/data-service/src/columns/usage-fields.gen.ts`. */
export function usageFieldsSource(): string {
  const lines = fields.map(({ field }) => `  ${columnOf(field)}: ${field.number},`).join('\n');
  return `${head}
/** The columns of \`usage_records\`, and the field of the record that each is read from. */
export const usageFields = {
${lines}
};
`;
}
