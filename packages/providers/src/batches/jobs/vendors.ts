import { findProvider } from '../../catalog.ts';
import { anthropicBatches } from './anthropic.ts';
import { bedrockBatches } from './bedrock.ts';
import { cohereBatches } from './cohere.ts';
import { mistralBatches } from './mistral.ts';
import { openAiBatches } from './openai.ts';
import type { VendorBatches } from './vendor-batches.ts';
import { vertexBatches } from './vertex.ts';

/** Who runs batches, and how they are asked for there. */
const vendors: Readonly<Record<string, VendorBatches>> = {
  openai: openAiBatches,
  demo: openAiBatches,
  'azure-openai': openAiBatches,
  'azure-ai': openAiBatches,
  bedrock: bedrockBatches,
  'vertex-ai': vertexBatches,
  anthropic: anthropicBatches,
  'claude-google-cloud': anthropicBatches,
  'claude-platform-aws': anthropicBatches,
  cohere: cohereBatches,
  'mistral-ai': mistralBatches,
  groq: openAiBatches,
};

/** Undefined = the provider has none that are known. */
export function vendorBatchesOf(providerId: string): VendorBatches | undefined {
  const id = findProvider(providerId)?.id ?? providerId;
  return Object.hasOwn(vendors, id) ? vendors[id] : undefined;
}

export const providersWithBatches: readonly string[] = Object.keys(vendors);
