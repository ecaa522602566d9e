import { modelSegment, optionalSetting, requiredSetting } from '../address.ts';
import type { CallFacts, ReadSetting } from '../call-facts.ts';
import { parseObject, stringOf } from '../json/json-access.ts';

/**
 * Where models are, by publisher and region.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
 */

/** Who asks at Google, and where. */
export const vertexSettings = [
  'vertex-project-id',
  'vertex-region',
  'vertex-auth-type',
  'vertex-service-account-json',
] as const;

const host = 'aiplatform.googleapis.com';

/** Regions of several countries, which have hosts of their own. */
const multiRegions = new Set(['us', 'eu']);

export function baseUrlOfRegion({ setting }: CallFacts): string {
  const region = regionOf(setting);
  if (region === 'global') return `https://${host}`;
  if (multiRegions.has(region)) return `https://aiplatform.${region}.rep.googleapis.com`;
  return `https://${region}-${host}`;
}

function regionOf(setting: ReadSetting): string {
  return optionalSetting(setting, 'vertex-region', 'global');
}

/** The service account names its project, and is right about it. */
export function projectOf(setting: ReadSetting): string {
  const account = parseObject(setting('vertex-service-account-json') ?? '');
  const named = stringOf(account?.project_id);
  return requiredSetting(
    (name) => (name === 'vertex-project-id' ? (named ?? setting(name)) : setting(name)),
    'vertex-project-id',
  );
}

export function locationPath({ setting }: CallFacts, version: 'v1' | 'v1beta1' = 'v1'): string {
  return `/${version}/projects/${projectOf(setting)}/locations/${regionOf(setting)}`;
}

/** Who publishes models here, by the word before the name → their name in the model garden. */
const publishers: ReadonlyMap<string, string> = new Map([
  ['google', 'google'],
  ['anthropic', 'anthropic'],
  ['mistralai', 'mistralai'],
  ['meta', 'meta'],
  ['moonshotai', 'moonshotai'],
  ['zai-org', 'zai-org'],
  ['qwen', 'qwen'],
  ['xai', 'xai'],
  ['deepseek', 'deepseek-ai'],
  ['deepseek-ai', 'deepseek-ai'],
  ['openai', 'openai'],
  ['minimaxai', 'minimaxai'],
  ['endpoints', 'endpoints'],
]);

/**
 * What their own clients on Vertex name without a publisher, e.g. `claude-sonnet-4-5@20250929`; Google has none of these names.
 * https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai, https://docs.mistral.ai/deployment/cloud/vertex, November 2026
 */
const publishersByName: readonly (readonly [beginning: RegExp, publisher: string])[] = [
  [/^claude-/, 'anthropic'],
  [/^(?:mistral|codestral|ministral)-/, 'mistralai'],
];

export interface VertexModel {
  publisher: string;
  name: string;
}

/** `[publisher.]name`, `publisher/name`, or the full `publishers/x/models/name`; where nothing is said, whose the name is, and Google's else. */
export function vertexModel(model: string): VertexModel {
  const full = /^publishers\/([^/]+)\/models\/(.+)$/.exec(model);
  const [, word, name] = full ?? /^([a-z0-9-]+)[./](.+)$/.exec(model) ?? [];
  const publisher = word === undefined ? undefined : publishers.get(word);
  return publisher === undefined || name === undefined
    ? { publisher: publisherOfName(model), name: model }
    : { publisher, name };
}

function publisherOfName(model: string): string {
  return publishersByName.find(([beginning]) => beginning.test(model))?.[1] ?? 'google';
}

/** The path of a publisher's model with one of its methods, e.g. `generateContent`. */
export function publisherPath(facts: CallFacts, method: string): string {
  const { publisher, name } = vertexModel(facts.model);
  return `${locationPath(facts)}/publishers/${publisher}/models/${modelSegment(name)}:${method}`;
}

export function endpointPath(facts: CallFacts): string {
  const { name } = vertexModel(facts.model);
  return `${locationPath(facts)}/endpoints/${modelSegment(name)}/chat/completions`;
}
