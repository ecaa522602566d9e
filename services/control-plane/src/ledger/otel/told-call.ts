import {
  type KeyValue,
  type PlainValue,
  plainValueOf,
  providerIdOf,
  type ToldUse,
  useOf,
} from '@sluice/otlp';

/** What attributes tell of a call of a model. */
export interface ToldCall {
  readonly operation: string;
  /** Of the catalogue, where it is one that anybody knows. */
  readonly provider: string;
  readonly model: string;
  readonly responseModel: string;
  /** Undefined = none are given, or they are those of the calls below. */
  readonly use: ToldUse | undefined;
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
    use: wholes.has(operation) ? undefined : useOf(attributes),
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

/** What consists of calls: what they used is theirs, and would be charged twice. */
const wholes: ReadonlySet<string> = new Set([
  'create_agent',
  'execute_tool',
  'invoke_agent',
  'invoke_workflow',
]);

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

function statusOf(value: PlainValue | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value < 600
    ? value
    : 0;
}
