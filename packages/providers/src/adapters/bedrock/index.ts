/**
 * AWS Bedrock: Converse for conversations, InvokeModel for what Converse does
 * not do and for Claude's own messages. Which of these serves a model is told
 * by its name (`codecs/bedrock-converse/models.ts`), or by the operator's file;
 * nothing is asked of AWS to find out. Signing is the gateway's work.
 */

import { awsSettings, invoke, modelOperation, regionalHost } from '../../addresses/bedrock.ts';
import type { CallFacts } from '../../call-facts.ts';
import { keepsFilesAndBatches, keepsTuning } from '../../catalog/keepings.ts';
import { converseEnvelope } from '../../codecs/bedrock-converse/frames.ts';
import { modelBehind } from '../../codecs/bedrock-converse/models.ts';
import { invokeEnvelope } from '../../codecs/bedrock-invoke/frames.ts';
import type {
  BodyDialect,
  EndpointChoice,
  EndpointEntry,
  ProviderEntry,
  WireFormat,
} from '../../contract.ts';
import { s3Files } from '../../files/s3-files.ts';
import { bedrockTuning } from '../../jobs/bedrock-tuning.ts';
import type { SettingName } from '../../setting-kinds.ts';
import { claudeMessages } from './claude.ts';
import * as completions from './completions.ts';
import { countTokens } from './count-tokens.ts';
import * as embeddings from './embeddings.ts';
import * as images from './images.ts';
import { listModels } from './models-list.ts';
import { rerank } from './rerank.ts';

const converse: EndpointEntry = {
  format: 'bedrock-converse',
  path: modelOperation('converse', 'converse-stream'),
  envelope: converseEnvelope,
};

function invoked(format: WireFormat, dialect: BodyDialect): EndpointEntry {
  return { format, path: invoke, dialect };
}

type Families = readonly (readonly [prefix: string, entry: EndpointEntry])[];

/** Offers each model whose name begins with one of the prefixes; the first wins. */
function byFamily(families: Families): EndpointChoice {
  const find = ({ model, modelOverrides }: CallFacts): EndpointEntry | undefined => {
    const { name } = modelBehind(model, modelOverrides);
    return families.find(([prefix]) => name.startsWith(prefix))?.[1];
  };
  return {
    choose: find,
    all: [...new Set(families.map(([, entry]) => entry))],
  };
}

const embed = byFamily([
  ['amazon.titan-embed-image', invoked('bedrock/titan-image-embeddings', embeddings.titanImage)],
  ['amazon.titan-embed', invoked('bedrock/titan-embeddings', embeddings.titanText)],
  ['amazon.nova-2-multimodal-embeddings', invoked('bedrock/nova-embeddings', embeddings.nova)],
  ['cohere.embed', invoked('bedrock/cohere-embeddings', embeddings.cohere)],
]);

const imageGenerate = byFamily([
  ['stability.stable-diffusion-xl', invoked('bedrock/stability-v1', images.stabilityV1)],
  ['stability.', invoked('bedrock/stability-v2', images.stabilityV2)],
  ['amazon.titan-image', invoked('bedrock/canvas', images.canvas)],
  ['amazon.nova-canvas', invoked('bedrock/canvas', images.canvas)],
]);

const mistral = invoked('bedrock/mistral-prompt', completions.mistral);
const cohereCommand = invoked('bedrock/cohere-prompt', completions.cohereCommand);

/** Models of later generations only talk: their completions go by way of Converse. */
const prompts = byFamily([
  ['amazon.titan-text', invoked('bedrock/titan-prompt', completions.titan)],
  ['meta.', invoked('bedrock/llama-prompt', completions.llama)],
  ['mistral.mistral-7b-instruct', mistral],
  ['mistral.mixtral-8x7b-instruct', mistral],
  ['mistral.mistral-large-2402', mistral],
  ['mistral.mistral-small-2402', mistral],
  ['cohere.command-text', cohereCommand],
  ['cohere.command-light-text', cohereCommand],
  ['ai21.j2', invoked('bedrock/jurassic-prompt', completions.jurassic)],
]);

/** Prompts are answered whole; streamed completions go by way of Converse, too. */
const complete: EndpointChoice = {
  choose: (facts, asked) => (facts.stream ? undefined : prompts.choose(facts, asked)),
  all: prompts.all,
};

const messages: EndpointChoice = {
  choose: ({ model, modelOverrides }) =>
    modelBehind(model, modelOverrides).vendor === 'anthropic' ? claudeMessages : converse,
  all: [claudeMessages, converse],
};

/** Of files and the batches over them. */
const fileSettings: readonly SettingName[] = [
  'aws-s3-bucket',
  'aws-s3-object-key',
  'provider-file-name',
  'aws-bedrock-model',
  'provider-model',
  'amz-server-side-encryption',
  'amz-server-side-encryption-aws-kms-key-id',
  'file-purpose',
];

export const bedrock: ProviderEntry = {
  id: 'bedrock',
  name: 'AWS Bedrock',
  baseUrl: regionalHost('bedrock-runtime'),
  auth: { type: 'aws', service: 'bedrock' },
  accountHeaders: ['x-amz-security-token'],
  takesNoQuery: true,
  endpoints: {
    chatComplete: converse,
    messages,
    messagesCountTokens: countTokens,
    complete,
    embed,
    imageGenerate,
    rerank,
    listModels,
  },
  knownPaths: [
    {
      pattern: /^\/model\/[^/]+\/converse(?:-stream)?$/,
      format: 'bedrock-converse',
      openUnframer: converseEnvelope.openUnframer,
    },
    {
      pattern: /^\/model\/[^/]*anthropic\.[^/]+\/invoke(?:-with-response-stream)?$/,
      format: 'anthropic-messages',
      openUnframer: claudeMessages.envelope?.openUnframer,
    },
    {
      // Other models, and profiles whose names do not tell of which model they are.
      pattern: /^\/model\/[^/]+\/invoke(?:-with-response-stream)?$/,
      format: 'bedrock/invoke',
      openUnframer: invokeEnvelope.openUnframer,
    },
  ],
  keeps: { ...keepsFilesAndBatches, ...keepsTuning },
  jobs: { 'fine-tuning jobs': bedrockTuning },
  files: s3Files,
  settings: [...awsSettings, ...fileSettings, 'anthropic-beta', 'anthropic-version'],
  bareSettings: ['anthropic-beta', 'anthropic-version'],
  keptSettings: ['aws-bedrock-role-arn'],
  source: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/welcome.html, November 2026',
  note: 'ARNs of application inference profiles and of provisioned models do not tell their model: these are called through Converse without vendor-specific fields.',
};
