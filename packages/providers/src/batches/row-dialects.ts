import { findProvider } from '../catalog.ts';
import { anthropicRows } from './anthropic.ts';
import { bedrockRows } from './bedrock.ts';
import { cohereRows } from './cohere.ts';
import { mistralRows } from './mistral.ts';
import { openAiRows } from './openai.ts';
import type { RowDialect } from './row.ts';
import { vertexRows } from './vertex.ts';

/** Whose batches have rows of their own; everybody else's are OpenAI's. */
const dialects: Readonly<Record<string, RowDialect>> = {
  anthropic: anthropicRows,
  'claude-google-cloud': anthropicRows,
  'claude-platform-aws': anthropicRows,
  bedrock: bedrockRows,
  cohere: cohereRows,
  'mistral-ai': mistralRows,
  'vertex-ai': vertexRows,
};

/** @param providerId its id or one of its aliases */
export function rowDialect(providerId: string): RowDialect {
  const id = findProvider(providerId)?.id ?? providerId;
  return (Object.hasOwn(dialects, id) ? dialects[id] : undefined) ?? openAiRows;
}
