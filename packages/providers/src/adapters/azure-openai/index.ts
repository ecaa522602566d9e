import { modelSegment, requiredSetting } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import { chatOrResponses } from '../../catalog/chat-or-responses.ts';
import { openAiKeepsPlainly } from '../../catalog/keepings.ts';
import { openAiEndpoints, openAiPathsAnywhere } from '../../catalog/openai-endpoints.ts';
import { realtimeEndpoints } from '../../catalog/realtime-endpoints.ts';
import type {
  CallContext,
  EndpointEntry,
  Envelope,
  JsonObject,
  ProviderEntry,
} from '../../contract.ts';
import { hyperparametersOf } from '../../jobs/tuning.ts';
import { objectOf } from '../../json/json-access.ts';
import { openAiCallIds } from '../../translation/call-id-rules.ts';
import { azureAuthSettings, deploymentOf, unversioned } from './settings.ts';

/** The body names the deployment where the path does not. */
const namesDeployment: Envelope = {
  wrap(body: JsonObject, context: CallContext): JsonObject | undefined {
    const { name } = deploymentOf(context);
    return name === undefined || body.model === name ? undefined : { ...body, model: name };
  },
};

const namesDeploymentUnversioned: Envelope = {
  wrap: (body, context) =>
    isUnversioned(context) ? namesDeployment.wrap?.(body, context) : undefined,
};

/**
 * OpenAI's formats, where a deployment stands for the model: in the path of
 * each endpoint, or in the body where the API version is `v1`.
 * https://learn.microsoft.com/azure/ai-foundry/openai/reference
 */
export const azureOpenAi: ProviderEntry = {
  id: 'azure-openai',
  name: 'Azure OpenAI',
  baseUrl: ({ setting }) =>
    `https://${requiredSetting(either(setting), 'azure-resource-name')}.openai.azure.com/openai`,
  auth: { type: 'azure', keyHeader: 'api-key' },
  endpoints: {
    chatComplete: chatOrResponses({
      chat: deployed(openAiEndpoints.chatComplete),
      modelOf: modelBehind,
      hasResponses,
      refusesNone: true,
    }),
    complete: deployed(openAiEndpoints.complete),
    embed: deployed(openAiEndpoints.embed),
    imageGenerate: deployed(openAiEndpoints.imageGenerate),
    imageEdit: deployed(openAiEndpoints.imageEdit),
    createSpeech: deployed(openAiEndpoints.createSpeech),
    createTranscription: deployed(openAiEndpoints.createTranscription),
    createTranslation: deployed(openAiEndpoints.createTranslation),
    createModelResponse: undeployed(openAiEndpoints.createModelResponse),
    realtime: { ...realtimeEndpoints.realtime, path: realtimePath },
    realtimeTranslation: undeployed(realtimeEndpoints.realtimeTranslation),
    responseSession: undeployed(realtimeEndpoints.responseSession),
    listModels: undeployed(openAiEndpoints.listModels),
    proxy: { format: 'raw', path: (facts) => versioned(facts.proxyPath ?? '', facts) },
  },
  keeps: openAiKeepsPlainly,
  jobs: {
    'fine-tuning jobs': {
      restPasses: true,
      operations: {
        // Hyperparameters stand beside the method, of which there is one.
        async createFinetune({ body }, { facts, ask }) {
          const { method, provider_options: options, ...rest } = body;
          const hyperparameters = hyperparametersOf(body);
          const json = { ...rest, ...objectOf(options), hyperparameters };
          const path = versioned('/fine_tuning/jobs', facts);
          return { document: await ask({ method: 'POST', path, json }) };
        },
      },
    },
  },
  knownPaths: openAiPathsAnywhere,
  callerHeaders: ['openai-beta'],
  settings: [
    'azure-resource-name',
    'azure-deployment-id',
    'azure-api-version',
    'azure-model-name',
    ...azureAuthSettings,
  ],
  keptSettings: [
    'azure-deployment-config',
    'azure-deployment-name',
    'deployments',
    'resource-name',
    'deployment-id',
    'api-version',
    'model-name',
  ],
  modelBehind,
  servedBy(facts) {
    const { name } = deploymentOf(facts);
    return name === undefined ? [] : [name];
  },
  // Reasoning models refuse `max_tokens`; every version since autumn 2024 knows the newer field.
  quirks: { outputTokensField: 'max_completion_tokens', stopsMax: 4, callIds: openAiCallIds },
  // Of a prompt that its filter stops, too: https://learn.microsoft.com/azure/ai-foundry/openai/how-to/manage-costs, September 2026
  chargesRefusals: ['content-filter'],
  source:
    'https://docs.github.com/en/enterprise-cloud@latest/copilot/how-tos/copilot-sdk/auth/byok, November 2026',
};

/** Configs call the resource by a shorter name. */
function either(setting: CallFacts['setting']): CallFacts['setting'] {
  return (name) => setting(name) ?? setting(name.replace(/^azure-/, ''));
}

function deployed(entry: EndpointEntry): EndpointEntry {
  const path = (facts: CallFacts): string => {
    const name = modelSegment(deploymentOf(facts).name ?? facts.model);
    const own = String(entry.path);
    return versioned(isUnversioned(facts) ? own : `/deployments/${name}${own}`, facts);
  };
  return { ...entry, path, envelope: namesDeploymentUnversioned };
}

/** The query names the deployment: as one where the version is old, as a model where there is none. */
function realtimePath(facts: CallFacts): string {
  const name = deploymentOf(facts).name ?? facts.model;
  const path = versioned(String(realtimeEndpoints.realtime.path), facts);
  if (name === '') return path;
  return isUnversioned(facts)
    ? `${path}?model=${encodeURIComponent(name)}`
    : `${path}&deployment=${encodeURIComponent(name)}`;
}

function undeployed(entry: EndpointEntry): EndpointEntry {
  return {
    ...entry,
    path: (facts) => versioned(String(entry.path), facts),
    envelope: namesDeployment,
  };
}

/** A deployment has any name, and its model may be told beside it, or by the operator. */
function modelBehind(facts: CallFacts): string {
  const { model, modelOverrides } = facts;
  const { name } = deploymentOf(facts);
  const told = either(facts.setting)('azure-model-name');
  const isTold = (by: string | undefined) =>
    by !== undefined && modelOverrides?.find(by) !== undefined;
  return [name, told, model].find(isTold) ?? told ?? `${model} ${name ?? ''}`;
}

/** Versions by their dates; responses came with the preview of March 2025. */
function hasResponses(facts: CallFacts): boolean {
  const { apiVersion } = deploymentOf(facts);
  return isUnversioned(facts) || (apiVersion ?? '') >= '2025-03-01';
}

/** Without a version set, the one that needs none. */
function isUnversioned(facts: CallFacts): boolean {
  return (deploymentOf(facts).apiVersion ?? unversioned) === unversioned;
}

function versioned(path: string, facts: CallFacts): string {
  if (!isUnversioned(facts)) return `${path}?api-version=${deploymentOf(facts).apiVersion}`;
  // Azure's own clients name the deployment, and tell the version in their query.
  return /^(?:\/openai)?\/(?:v1|deployments)\//.test(path) ? path : `/v1${path}`;
}
