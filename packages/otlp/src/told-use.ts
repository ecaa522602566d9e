import type { usage } from '@sluice/proto-stubs';
import type { AttributeValue, PlainValue } from './attributes.ts';

/** The first is told; the others are those of earlier conventions, and read. */
const tokenNames = {
  inputTokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  outputTokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
  cacheReadTokens: ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'],
  cacheWriteTokens: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
  ],
  reasoningTokens: ['gen_ai.usage.reasoning.output_tokens'],
  cacheWrite1hTokens: ['service.usage.cache_creation_1h.input_tokens'],
  cacheReadAudioTokens: ['service.usage.cache_read_audio.input_tokens'],
  inputAudioTokens: ['service.usage.audio.input_tokens'],
  outputAudioTokens: ['service.usage.audio.output_tokens'],
  inputImageTokens: ['service.usage.image.input_tokens'],
  outputImageTokens: ['service.usage.image.output_tokens'],
} as const;

/** What is charged by other units than tokens. */
const countNames = {
  images: ['service.usage.images'],
  searchUnits: ['service.usage.search_units'],
  pages: ['service.usage.pages'],
  characters: ['service.usage.characters'],
} as const;

const secondsName = 'service.usage.audio_seconds';
const estimatedName = 'service.usage.is_estimated';
/** With the name in price lists behind it: `service.usage.units.web_search`. */
const unitPrefix = 'service.usage.units.';
/** With quality and size behind it: `service.usage.images_by_kind.hd.1024x1024`. */
const imagePrefix = 'service.usage.images_by_kind.';

type TokenField = keyof typeof tokenNames;
type CountField = keyof typeof countNames;

const tokenFields = Object.keys(tokenNames) as TokenField[];
const countFields = Object.keys(countNames) as CountField[];

/** What an attempt used, as the ledger's record has it. */
export type ToldUse = Pick<
  usage.UsageRecord,
  | TokenField
  | CountField
  | 'audioSeconds'
  | 'imagesByKind'
  | 'units'
  | 'usageReported'
  | 'usageEstimated'
>;

/** What `useOf` reads again, count for count. What nobody reported, and nobody guessed, is not told as none. */
export function useAttributes(use: ToldUse): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  const tell = (name: string, count: bigint | number) => {
    if (Number(count) > 0) attributes[name] = count;
  };
  if (use.usageReported || use.usageEstimated) {
    for (const field of tokenFields) tell(tokenNames[field][0], use[field]);
    attributes[tokenNames.inputTokens[0]] = use.inputTokens;
    attributes[tokenNames.outputTokens[0]] = use.outputTokens;
    attributes[estimatedName] = use.usageEstimated || undefined;
  }
  for (const field of countFields) tell(countNames[field][0], use[field]);
  tell(secondsName, use.audioSeconds);
  for (const [name, count] of Object.entries(use.units)) tell(unitPrefix + name, count);
  for (const [kind, count] of Object.entries(use.imagesByKind)) tell(imagePrefix + kind, count);
  return attributes;
}

/** What a span says was used, whoever sent it; undefined = it says nothing of it. */
export function useOf(attributes: ReadonlyMap<string, PlainValue>): ToldUse | undefined {
  const told = (names: readonly string[]) => countOf(attributes, names);
  const hasTokens =
    told(tokenNames.inputTokens) !== undefined || told(tokenNames.outputTokens) !== undefined;
  const use = {
    ...fieldsOf(tokenFields, (field) => (hasTokens ? told(tokenNames[field]) : undefined)),
    ...fieldsOf(countFields, (field) => told(countNames[field])),
    audioSeconds: numberOf(attributes.get(secondsName)) ?? 0,
    units: namedCounts(attributes, unitPrefix, /^[a-z][a-z0-9_]{0,63}$/),
    imagesByKind: namedCounts(attributes, imagePrefix, /^[^.]{1,64}\.[^\n]{1,128}$/),
    usageReported: hasTokens && attributes.get(estimatedName) !== true,
    usageEstimated: hasTokens && attributes.get(estimatedName) === true,
  };
  const hasUnits =
    countFields.some((field) => use[field] > 0n) ||
    use.audioSeconds > 0 ||
    Object.keys(use.units).length + Object.keys(use.imagesByKind).length > 0;
  return hasTokens || hasUnits ? use : undefined;
}

/** Nobody's answer has as many. */
const countMax = 1e9;

/** Of one kind. */
const namesMax = 32;

function fieldsOf<Field extends string>(
  fields: readonly Field[],
  read: (field: Field) => number | undefined,
): Record<Field, bigint> {
  const counts = fields.map((field) => [field, BigInt(read(field) ?? 0)] as const);
  return Object.fromEntries(counts) as Record<Field, bigint>;
}

function namedCounts(
  attributes: ReadonlyMap<string, PlainValue>,
  prefix: string,
  wanted: RegExp,
): Record<string, bigint> {
  const counts: [string, bigint][] = [];
  for (const key of attributes.keys()) {
    if (!key.startsWith(prefix)) continue;
    const name = key.slice(prefix.length);
    const count = countOf(attributes, [key]) ?? 0;
    if (count > 0 && wanted.test(name) && name.isWellFormed()) counts.push([name, BigInt(count)]);
    if (counts.length >= namesMax) break;
  }
  return Object.fromEntries(counts);
}

/** By the first name that tells one. */
function countOf(
  attributes: ReadonlyMap<string, PlainValue>,
  names: readonly string[],
): number | undefined {
  for (const name of names) {
    const count = numberOf(attributes.get(name));
    if (count !== undefined && Number.isInteger(count)) return count;
  }
  return undefined;
}

function numberOf(value: PlainValue | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= countMax ? value : undefined;
}
