/**
 * Names of providers and operations as OpenTelemetry's conventions for generative AI
 * have them, beside ours. What they do not name keeps its own name there.
 */
const providerNames: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  'azure-ai': 'azure.ai.inference',
  'azure-openai': 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  'bedrock-mantle': 'aws.bedrock',
  cohere: 'cohere',
  deepseek: 'deepseek',
  google: 'gcp.gemini',
  groq: 'groq',
  'mistral-ai': 'mistral_ai',
  openai: 'openai',
  'perplexity-ai': 'perplexity',
  'vertex-ai': 'gcp.vertex_ai',
  'x-ai': 'x_ai',
};

/** Spellings of earlier conventions, and of instrumentations that never followed them. */
const furtherNames: Readonly<Record<string, string>> = {
  'az.ai.inference': 'azure-ai',
  'az.ai.openai': 'azure-openai',
  azure: 'azure-openai',
  aws_bedrock: 'bedrock',
  'gcp.gen_ai': 'google',
  gemini: 'google',
  vertex_ai: 'vertex-ai',
  mistral: 'mistral-ai',
  mistralai: 'mistral-ai',
  xai: 'x-ai',
};

const ids: ReadonlyMap<string, string> = new Map([
  ...Object.entries(furtherNames),
  // Of those that share a name the last one counts, and it is to be the first.
  ...Object.entries(providerNames)
    .toReversed()
    .map(([id, name]) => [name, id] as const),
]);

export function providerNameOf(id: string): string {
  return providerNames[id] ?? id;
}

/** Of the catalogue, where the name is one that anybody knows; otherwise the name itself. */
export function providerIdOf(name: string): string {
  const spelled = name.trim().toLowerCase();
  return ids.get(spelled) ?? spelled;
}

const operationNames: Readonly<Record<string, string>> = {
  chatComplete: 'chat',
  messages: 'chat',
  createModelResponse: 'chat',
  complete: 'text_completion',
  embed: 'embeddings',
  'mcp:tool_call': 'execute_tool',
  'agent:send_message': 'invoke_agent',
  'agent:stream_message': 'invoke_agent',
  'agent:call': 'invoke_agent',
};

/** By our name of the endpoint. */
export function operationNameOf(endpoint: string): string {
  return operationNames[endpoint] ?? endpoint;
}
