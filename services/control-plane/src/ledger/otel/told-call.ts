import type { ChatUsage } from '@sluice/contracts';
import { type KeyValue, type PlainValue, plainValueOf, providerIdOf } from '@sluice/otlp';

/** What attributes tell of a call of a model. */
export interface ToldCall {
  readonly operation: string;
  /** Of the catalogue, where it is one that anybody knows. */
  readonly provider: string;
  readonly model: string;
  readonly responseModel: string;
  /** Undefined = none are given, or they are those of the calls below. */
  readonly tokens: ChatUsage | undefined;
  readonly serviceTier: string;
  readonly servedRegion: string;
  readonly finishReason: string;
  readonly isStream: boolean;
  readonly errorType: string;
  /** 0 = none is given. */
  readonly statusCode: number;
  readonly metadata: Readonly<Record<string, string>>;
}

export type Attributes = ReadonlyMap<string, PlainValue>;

export function readAttributes(attributes: readonly KeyValue[]): Attributes {
  return new Map(attributes.map(({ key, value }) => [key, plainValueOf(value)]));
}

/**
 * Reads OpenTelemetry's conventions for generative AI, those of today and the
 * names that they had before. Undefined = the attributes tell of no such call.
 */
export function readCall(attributes: Attributes, resource: Attributes): ToldCall | undefined {
  const operation = textOf(attributes, 'gen_ai.operation.name');
  const providerName = textOf(attributes, 'gen_ai.provider.name', 'gen_ai.system');
  if (operation === '' && providerName === '') return undefined;
  const responseModel = textOf(attributes, 'gen_ai.response.model');
  const asked = textOf(attributes, 'gen_ai.request.model');
  const reasons = attributes.get('gen_ai.response.finish_reasons');
  return {
    operation,
    provider: textOf(attributes, 'service.provider') || providerIdOf(providerName),
    model: asked === '' ? responseModel : asked,
    responseModel,
    tokens: wholes.has(operation) ? undefined : tokensOf(attributes),
    serviceTier: textOf(
      attributes,
      'openai.response.service_tier',
      'gen_ai.openai.response.service_tier',
    ),
    servedRegion: textOf(attributes, 'service.served_region'),
    finishReason: Array.isArray(reasons) && typeof reasons[0] === 'string' ? clip(reasons[0]) : '',
    isStream: attributes.get('gen_ai.request.stream') === true,
    errorType: textOf(attributes, 'error.type'),
    statusCode: statusOf(attributes.get('http.response.status_code')),
    metadata: metadataOf(attributes, resource),
  };
}

/** What consists of calls: its tokens are theirs, and would be charged twice. */
const wholes: ReadonlySet<string> = new Set([
  'create_agent',
  'execute_tool',
  'invoke_agent',
  'invoke_workflow',
]);

function tokensOf(attributes: Attributes): ChatUsage | undefined {
  const usage = (...names: string[]) =>
    countOf(attributes, ...names.map((name) => `gen_ai.usage.${name}`));
  const own = (name: string) => countOf(attributes, `service.usage.${name}`) ?? 0;
  const inputTokens = usage('input_tokens', 'prompt_tokens');
  const outputTokens = usage('output_tokens', 'completion_tokens');
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: usage('cache_read.input_tokens', 'cache_read_input_tokens') ?? 0,
    cacheWriteTokens: usage('cache_creation.input_tokens', 'cache_creation_input_tokens') ?? 0,
    cacheWrite1hTokens: own('cache_creation_1h.input_tokens'),
    reasoningTokens: usage('reasoning.output_tokens') ?? 0,
    inputAudioTokens: own('audio.input_tokens'),
    outputAudioTokens: own('audio.output_tokens'),
    cacheReadAudioTokens: own('cache_read_audio.input_tokens'),
    inputImageTokens: own('image.input_tokens'),
    outputImageTokens: own('image.output_tokens'),
  };
}

/**
 * Only what is called so: other attributes may hold prompts. Values are texts of
 * 128 characters at most, as those that callers send in headers.
 */
function metadataOf(attributes: Attributes, resource: Attributes): Record<string, string> {
  const metadata: Record<string, string> = {};
  const add = (key: string, value: PlainValue | undefined) => {
    if (value === undefined || value === null || typeof value === 'object' || value === '') return;
    if (Object.keys(metadata).length >= metadataMax) return;
    metadata[key.slice(0, 128).toWellFormed()] ??= String(value).slice(0, 128).toWellFormed();
  };
  for (const [key, value] of attributes)
    for (const prefix of metadataPrefixes)
      if (key.startsWith(prefix) && key.length > prefix.length)
        add(key.slice(prefix.length), value);
  add('_user', attributes.get('user.id'));
  add('session_id', attributes.get('session.id') ?? attributes.get('gen_ai.conversation.id'));
  add('service_name', resource.get('service.name'));
  add(
    '_environment',
    resource.get('deployment.environment.name') ?? resource.get('deployment.environment'),
  );
  return metadata;
}

const metadataPrefixes = ['service.metadata.', 'metadata.'];
const metadataMax = 100;

/** The first of them that is there. */
function textOf(attributes: Attributes, ...names: string[]): string {
  for (const name of names) {
    const value = attributes.get(name);
    if (typeof value === 'string' && value !== '') return clip(value);
  }
  return '';
}

function clip(text: string): string {
  return text.slice(0, 256).toWellFormed();
}

/** Nobody's answer has as many. */
const countMax = 1e9;

function countOf(attributes: Attributes, ...names: string[]): number | undefined {
  for (const name of names) {
    const value = attributes.get(name);
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= countMax)
      return value;
  }
  return undefined;
}

function statusOf(value: PlainValue | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value < 600
    ? value
    : 0;
}
