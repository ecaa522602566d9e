/**
 * Our provider ids beside the price catalogue's. A provider that is not here
 * has no catalogue price: guessing by model name would charge one provider's
 * price for another's service.
 */
export const catalogueIds: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  'azure-ai': 'azure',
  'azure-openai': 'azure',
  bedrock: 'aws',
  'bedrock-mantle': 'aws',
  cerebras: 'cerebras',
  'claude-google-cloud': 'anthropic',
  'claude-platform-aws': 'anthropic',
  cohere: 'cohere',
  deepseek: 'deepseek',
  // The built-in upstream answers under OpenAI's model names; pricing it like them lets cost be tried out.
  demo: 'openai',
  'fireworks-ai': 'fireworks',
  google: 'google',
  groq: 'groq',
  minimax: 'minimax',
  'mistral-ai': 'mistral',
  modal: 'modal',
  moonshot: 'moonshotai',
  'novita-ai': 'novita',
  openai: 'openai',
  openrouter: 'openrouter',
  ovhcloud: 'ovhcloud',
  'perplexity-ai': 'perplexity',
  'together-ai': 'together',
  'vertex-ai': 'google',
  voyage: 'voyageai',
  'workers-ai': 'cloudflare',
  'x-ai': 'x-ai',
  'z-ai': 'zai',
  zhipu: 'zhipuai',
};

/** The catalogue's id for one of our providers, if it prices that provider at all. */
export function catalogueIdOf(provider: string, model: string): string | undefined {
  if (provider === 'huggingface') {
    // Hugging Face's router names the company that serves the model after a colon; prices differ by it.
    const served = model.lastIndexOf(':');
    return served < 0 ? undefined : `huggingface_${model.slice(served + 1)}`;
  }
  return Object.hasOwn(catalogueIds, provider) ? catalogueIds[provider] : undefined;
}
