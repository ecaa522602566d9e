import {
  checkDollars,
  countAt,
  dayAt,
  type ExportedUse,
  faultAt,
  isBlank,
  modelAt,
  moneyAt,
} from './exported-use.ts';
import { isObject, readBuckets } from './read-buckets.ts';
import { type CsvRow, readCsv } from './read-csv.ts';

/** `gpt-5-nano, input_tokens`: what is charged stands behind the model. */
const lineItem = /^([^,]+)/;

/** Usage and costs of OpenAI: the dashboard's CSV exports, or what the organization API answers. */
export function readOpenAI(text: string): ExportedUse[] {
  if (/^\s*[[{]/.test(text)) return readBuckets(text).flatMap(ofBucket);
  const rows = readCsv(text);
  const isCost = rows.some(({ fields }) => 'amount_value' in fields);
  return rows.flatMap((row) => (isCost ? ofCostLine(row) : ofUsageLine(row)));
}

function ofBucket({ place, bucket, fields }: ReturnType<typeof readBuckets>[number]): ExportedUse {
  const day = dayAt(`${place.replace(/\.results\[\d+\]$/, '')}.start_time`, bucket.start_time);
  const { amount } = fields;
  if (isObject(amount)) {
    checkDollars(`${place}.amount.currency`, amount.currency);
    return {
      day,
      model: modelOf(`${place}.line_item`, fields.line_item),
      costNanoUsd: moneyAt(`${place}.amount.value`, amount.value, 1e9),
    };
  }
  if (!('input_tokens' in fields)) throw faultAt(place, 'is neither usage nor a cost');
  return {
    day,
    model: modelAt(`${place}.model`, fields.model),
    requests: countAt(`${place}.num_model_requests`, fields.num_model_requests),
    inputTokens: countAt(`${place}.input_tokens`, fields.input_tokens),
    outputTokens: countAt(`${place}.output_tokens`, fields.output_tokens),
  };
}

function ofUsageLine({ line, fields }: CsvRow): ExportedUse[] {
  const at = (name: string) => `line ${line}, ${name}`;
  if (!('input_tokens' in fields)) {
    // A period without any use has no other columns.
    if ('start_time' in fields && !('model' in fields)) return [];
    throw faultAt(`line ${line}`, 'is of no export of usage or costs');
  }
  const requests = countAt(at('num_model_requests'), fields.num_model_requests);
  const inputTokens = countAt(at('input_tokens'), fields.input_tokens);
  const outputTokens = countAt(at('output_tokens'), fields.output_tokens);
  // A bucket in which nothing was used.
  if (fields.model === '' && requests + inputTokens + outputTokens === 0) return [];
  const model = modelAt(at('model'), fields.model);
  return [
    { day: dayAt(at('start_time'), fields.start_time), model, requests, inputTokens, outputTokens },
  ];
}

function ofCostLine({ line, fields }: CsvRow): ExportedUse[] {
  const at = (name: string) => `line ${line}, ${name}`;
  if (isBlank(fields.amount_value)) return [];
  checkDollars(at('amount_currency'), fields.amount_currency);
  return [
    {
      day: dayAt(at('start_time'), fields.start_time),
      model: modelOf(at('line_item'), fields.line_item),
      costNanoUsd: moneyAt(at('amount_value'), fields.amount_value, 1e9),
    },
  ];
}

function modelOf(place: string, item: unknown): string {
  return modelAt(place, lineItem.exec(modelAt(place, item))?.[1]);
}
