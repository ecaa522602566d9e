import {
  checkDollars,
  countAt,
  dayAt,
  type ExportedUse,
  faultAt,
  modelAt,
  moneyAt,
} from './exported-use.ts';
import { isObject, readBuckets } from './read-buckets.ts';
import { type CsvRow, readCsv } from './read-csv.ts';

const inputColumns = [
  'usage_input_tokens_no_cache',
  'usage_input_tokens_cache_write_5m',
  'usage_input_tokens_cache_write_1h',
  'usage_input_tokens_cache_read',
];

/** Usage and costs of Anthropic: the console's CSV exports, or what the admin API answers. */
export function readAnthropic(text: string): ExportedUse[] {
  if (/^\s*[[{]/.test(text)) return readBuckets(text).flatMap(ofBucket);
  return readCsv(text).map(ofLine);
}

function ofBucket({
  place,
  bucket,
  fields,
}: ReturnType<typeof readBuckets>[number]): ExportedUse[] {
  const day = dayAt(`${place.replace(/\.results\[\d+\]$/, '')}.starting_at`, bucket.starting_at);
  if ('amount' in fields) {
    checkDollars(`${place}.currency`, fields.currency);
    // Searches and the like are charged for no model.
    const model = fields.model ?? fields.description;
    // Cents, as decimal text.
    const costNanoUsd = moneyAt(`${place}.amount`, fields.amount, 1e7);
    return [{ day, model: modelAt(`${place}.model`, model), costNanoUsd }];
  }
  if (!('uncached_input_tokens' in fields)) throw faultAt(place, 'is neither usage nor a cost');
  const written = isObject(fields.cache_creation) ? fields.cache_creation : {};
  const input = {
    uncached_input_tokens: fields.uncached_input_tokens,
    cache_read_input_tokens: fields.cache_read_input_tokens,
    'cache_creation.ephemeral_5m_input_tokens': written.ephemeral_5m_input_tokens,
    'cache_creation.ephemeral_1h_input_tokens': written.ephemeral_1h_input_tokens,
  };
  return [
    {
      day,
      model: modelAt(`${place}.model`, fields.model),
      inputTokens: Object.entries(input).reduce(
        (sum, [name, value]) => sum + countAt(`${place}.${name}`, value),
        0,
      ),
      outputTokens: countAt(`${place}.output_tokens`, fields.output_tokens),
    },
  ];
}

function ofLine({ line, fields }: CsvRow): ExportedUse {
  const at = (name: string) => `line ${line}, ${name}`;
  if ('cost_usd' in fields)
    return {
      day: dayAt(at('usage_date_utc'), fields.usage_date_utc),
      model: modelAt(at('model'), fields.model),
      costNanoUsd: moneyAt(at('cost_usd'), fields.cost_usd, 1e9),
    };
  if (!('usage_output_tokens' in fields))
    throw faultAt(`line ${line}`, 'is of no export of usage or costs');
  return {
    day: dayAt(at('usage_date_utc'), fields.usage_date_utc),
    model: modelAt(at('model_version'), fields.model_version),
    inputTokens: inputColumns.reduce((sum, name) => sum + countAt(at(name), fields[name]), 0),
    outputTokens: countAt(at('usage_output_tokens'), fields.usage_output_tokens),
  };
}
