import type { ObjectFamily } from '@sluice/contracts';
import { ai21 } from './adapters/ai21/index.ts';
import { anthropic } from './adapters/anthropic/index.ts';
import { azureAi } from './adapters/azure-ai/index.ts';
import { azureOpenAi } from './adapters/azure-openai/index.ts';
import { bedrock } from './adapters/bedrock/index.ts';
import { bedrockMantle } from './adapters/bedrock-mantle/index.ts';
import { bytez } from './adapters/bytez/index.ts';
import { claudeGoogleCloud } from './adapters/claude-google-cloud/index.ts';
import { claudePlatformAws } from './adapters/claude-platform-aws/index.ts';
import { cohere } from './adapters/cohere/index.ts';
import { cortex } from './adapters/cortex/index.ts';
import { databricks } from './adapters/databricks/index.ts';
import { demo } from './adapters/demo/index.ts';
import { google } from './adapters/google/index.ts';
import { huggingface } from './adapters/huggingface/index.ts';
import { mistralAi } from './adapters/mistral-ai/index.ts';
import { oracle } from './adapters/oracle/index.ts';
import { palm } from './adapters/palm/index.ts';
import { perplexityAi } from './adapters/perplexity-ai/index.ts';
import { predibase } from './adapters/predibase/index.ts';
import { rekaAi } from './adapters/reka-ai/index.ts';
import { sagemaker } from './adapters/sagemaker/index.ts';
import { triton } from './adapters/triton/index.ts';
import { vertexAi } from './adapters/vertex-ai/index.ts';
import { workersAi } from './adapters/workers-ai/index.ts';
import { compatibleProviders } from './catalog/compatible.ts';
import { keepersOf } from './catalog/keepings.ts';
import { movedProviders } from './catalog/moved.ts';
import { openai } from './catalog/openai.ts';
import { proxiedProviders } from './catalog/proxied.ts';
import { selfHostedProviders } from './catalog/self-hosted.ts';
import { specialists } from './catalog/specialists.ts';
import { providersWithDialects } from './catalog/with-dialects.ts';
import { providersWithQuirks } from './catalog/with-quirks.ts';
import type { ProviderEntry } from './contract.ts';

/** Everybody there is. A compatible provider is one entry in `catalog/compatible.ts` and one fixture. */
const entries: readonly ProviderEntry[] = [
  openai,
  anthropic,
  demo,
  ai21,
  azureAi,
  azureOpenAi,
  bedrockMantle,
  bedrock,
  bytez,
  claudeGoogleCloud,
  claudePlatformAws,
  cohere,
  cortex,
  databricks,
  google,
  huggingface,
  mistralAi,
  oracle,
  palm,
  perplexityAi,
  predibase,
  rekaAi,
  sagemaker,
  triton,
  vertexAi,
  workersAi,
  ...compatibleProviders,
  ...providersWithQuirks,
  ...providersWithDialects,
  ...movedProviders,
  ...selfHostedProviders,
  ...specialists,
  ...proxiedProviders,
];

const byId = new Map(entries.map((entry) => [entry.id, entry]));
const byAlias = new Map(
  entries.flatMap((entry) => (entry.aliases ?? []).map((alias) => [alias, entry] as const)),
);

export function findProvider(id: string): ProviderEntry | undefined {
  return byId.get(id) ?? byAlias.get(id);
}

/** Ids of the providers that keep something of the family, in the catalogue's order. */
export function providersKeeping(family: ObjectFamily, operation = ''): string[] {
  return keepersOf(family, operation, entries);
}

/** In the catalogue's order. */
export function providerIds(): string[] {
  return [...byId.keys()];
}
