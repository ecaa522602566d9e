/**
 * What is known of a Bedrock model from its name alone.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html
 */
import type { ModelOverrides } from '../../models/model-overrides.ts';

export interface BedrockModel {
  /** As it stands in the path: an id, or an ARN, decoded. */
  id: string;
  /** `anthropic`, `amazon` …; empty where the name does not tell, e.g. an application's own profile. */
  vendor: string;
  /** Vendor and model, without the region that an inference profile begins with. */
  name: string;
}

const regions = /^(?:us|eu|apac|au|ca|jp|global|us-gov|sa)\.(?=[a-z0-9-]+\.)/;

/** Resources whose last segment is the name of a model or of AWS's own profile of one. */
const namedResources = /^(?:foundation-model|inference-profile)\//;

/**
 * Reads ids, region-prefixed ids and ARNs, percent-encoded or not. Profiles
 * that an application made for itself, provisioned and imported models hide
 * which model they stand for; they are called like a model nothing is known of.
 */
export function readModel(text: string): BedrockModel {
  const id = decoded(text);
  const name = nameOf(id).replace(regions, '');
  const dot = name.indexOf('.');
  return { id, vendor: dot === -1 ? '' : name.slice(0, dot), name };
}

/** What the model is that hides behind a name, where the operator says so; its id stays as it is asked for. */
export function modelBehind(name: string, overrides: ModelOverrides | undefined): BedrockModel {
  const own = readModel(name);
  const like = overrides?.find(name)?.like;
  if (like === undefined) return own;
  // Claude is known by its own name everywhere else.
  const known = readModel(like.startsWith('claude') ? `anthropic.${like}` : like);
  return { ...known, id: own.id };
}

function nameOf(id: string): string {
  if (!id.startsWith('arn:')) return id;
  // arn:partition:bedrock:region:account:resource, whose resource may have colons of its own.
  const resource = id.split(':').slice(5).join(':');
  return namedResources.test(resource) ? resource.slice(resource.indexOf('/') + 1) : '';
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing is the model's own.
    return text;
  }
}

/** Where a field of ours goes within `additionalModelRequestFields`; dots nest. */
export type FamilyFields = Partial<
  Record<
    'topK' | 'seed' | 'frequencyPenalty' | 'presencePenalty' | 'logitBias' | 'effort' | 'user',
    string
  >
>;

/** How a family of models differs in what it takes through Converse. */
export interface Family {
  isClaude: boolean;
  fields: FamilyFields;
  /** Fields of the caller's format that the model knows by the same name. */
  forwarded: readonly string[];
  /** Which earlier thinking may be sent back: the signed, all, or none. */
  thinking: 'signed' | 'any' | 'none';
  /** Where cache points may stand; `unknown` = nobody knows, and the provider judges. */
  cachePoints: 'all' | 'messages' | 'none' | 'unknown';
  /** Answers by a JSON schema, and strict tools; of Claude each model has its own facts. */
  structuredOutputs: boolean;
}

const plain: Family = {
  isClaude: false,
  fields: {},
  forwarded: [],
  thinking: 'any',
  cachePoints: 'none',
  structuredOutputs: true,
};

/** Of a profile that an application made for itself nothing is known. */
const hidden: Family = { ...plain, cachePoints: 'unknown' };

const untold = { ...plain, structuredOutputs: false };

/**
 * Matched by prefix, the first wins. Sources: the pages "Inference request
 * parameters" of each vendor in Bedrock's user guide, and "Get validated JSON
 * results from models", November 2026.
 */
const families: readonly (readonly [prefix: string, family: Family])[] = [
  [
    'anthropic.',
    {
      isClaude: true,
      fields: { topK: 'top_k', user: 'metadata.user_id' },
      forwarded: ['anthropic_version', 'context_management', 'output_config'],
      thinking: 'signed',
      cachePoints: 'all',
      structuredOutputs: true,
    },
  ],
  [
    'amazon.nova-2',
    {
      isClaude: false,
      fields: { topK: 'inferenceConfig.topK', effort: 'reasoningConfig.maxReasoningEffort' },
      forwarded: ['reasoningConfig'],
      thinking: 'any',
      cachePoints: 'messages',
      structuredOutputs: false,
    },
  ],
  ['amazon.nova', { ...untold, fields: { topK: 'inferenceConfig.topK' }, cachePoints: 'messages' }],
  ['amazon.', { ...untold, fields: { topK: 'inferenceConfig.topK' } }],
  [
    'cohere.',
    {
      ...untold,
      fields: {
        topK: 'k',
        seed: 'seed',
        frequencyPenalty: 'frequency_penalty',
        presencePenalty: 'presence_penalty',
        logitBias: 'logit_bias',
      },
      forwarded: ['documents', 'search_queries_only', 'preamble', 'prompt_truncation'],
    },
  ],
  [
    'ai21.j2',
    {
      ...untold,
      fields: {
        frequencyPenalty: 'frequencyPenalty.scale',
        presencePenalty: 'presencePenalty.scale',
      },
      forwarded: ['countPenalty'],
    },
  ],
  [
    'ai21.',
    {
      ...untold,
      fields: { frequencyPenalty: 'frequency_penalty', presencePenalty: 'presence_penalty' },
    },
  ],
  ['meta.', untold],
  ['writer.', untold],
  ['mistral.', { ...plain, fields: { topK: 'top_k' } }],
  ['openai.', { ...plain, fields: { effort: 'reasoning_effort' } }],
  // It refuses to be shown its own earlier reasoning.
  ['deepseek.', { ...plain, thinking: 'none' }],
];

export function familyOf(model: BedrockModel): Family {
  if (model.vendor === '') return hidden;
  for (const [prefix, family] of families) if (model.name.startsWith(prefix)) return family;
  return plain;
}
