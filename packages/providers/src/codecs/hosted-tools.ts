/**
 * Tools that a provider runs itself, apart from what each format calls them:
 * who asks for a search in one format gets the search of the provider that is
 * asked in another. What names things that one provider keeps (files, stores,
 * containers) means nothing to the next, and is not among these.
 */
import type { JsonObject, ProviderTool } from '@sluice/contracts';
import { arrayOf, compact, numberOf, objectOf, stringOf } from '../json/json-access.ts';

export interface HostedTool {
  kind: 'web-search' | 'web-fetch' | 'code-execution';
  allowedDomains?: string[];
  blockedDomains?: string[];
  /** `{type: 'approximate', city, region, country, timezone}`: the same in all formats that have it. */
  userLocation?: JsonObject;
  usesMax?: number;
}

/** Undefined for a tool that only its own provider has. */
export function hostedTool({ format, value }: ProviderTool): HostedTool | undefined {
  switch (format) {
    case 'openai-responses':
    case 'openai-chat':
      return ofOpenAi(value);
    case 'anthropic-messages':
      return ofAnthropic(value);
    case 'gemini':
      return ofGemini(value);
    default:
      return undefined;
  }
}

/** An option of a tool, by its name here. */
type Option = Exclude<keyof HostedTool, 'kind'>;

/** Options as callers write them, by their names here. */
const options: ReadonlyMap<string, Option> = new Map([
  ['filters.allowed_domains', 'allowedDomains'],
  ['allowed_domains', 'allowedDomains'],
  ['blocked_domains', 'blockedDomains'],
  ['user_location', 'userLocation'],
  ['max_uses', 'usesMax'],
]);

/** What is no option, or says no more than that it has none. */
const plain: ReadonlySet<string> = new Set(['type', 'name', 'cache_control', 'container.type']);

/** Paths of what a caller asks of a tool that another provider runs, and that is not among what goes there. */
export function lostOptions(
  { path, format, value }: ProviderTool,
  carried: readonly Option[] = [],
): string[] {
  if (format === 'gemini') return [];
  const lost: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const inner = name === 'filters' || name === 'container' ? objectOf(member) : undefined;
    const names = inner === undefined ? [name] : Object.keys(inner).map((key) => `${name}.${key}`);
    for (const each of names) {
      const option = options.get(each);
      const isCarried = option !== undefined && carried.includes(option);
      if (member !== null && !plain.has(each) && !isCarried) lost.push(`${path}.${each}`);
    }
  }
  return lost;
}

function ofOpenAi(tool: JsonObject): HostedTool | undefined {
  const type = stringOf(tool.type) ?? '';
  // With options under its own name it is meant for one vendor, whose codec knows it.
  if (objectOf(tool[type]) !== undefined) return undefined;
  if (/^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/.test(type))
    return compact<HostedTool>({
      kind: 'web-search',
      allowedDomains: textsOf(objectOf(tool.filters)?.allowed_domains),
      userLocation: objectOf(tool.user_location),
    });
  return type === 'code_interpreter' || type === 'shell' ? { kind: 'code-execution' } : undefined;
}

function ofAnthropic(tool: JsonObject): HostedTool | undefined {
  const type = stringOf(tool.type) ?? '';
  if (type.startsWith('web_search_'))
    return compact<HostedTool>({
      kind: 'web-search',
      allowedDomains: textsOf(tool.allowed_domains),
      blockedDomains: textsOf(tool.blocked_domains),
      userLocation: objectOf(tool.user_location),
      usesMax: numberOf(tool.max_uses),
    });
  if (type.startsWith('web_fetch_')) return { kind: 'web-fetch' };
  return type.startsWith('code_execution_') ? { kind: 'code-execution' } : undefined;
}

function ofGemini(tool: JsonObject): HostedTool | undefined {
  if (tool.googleSearch !== undefined) return { kind: 'web-search' };
  if (tool.urlContext !== undefined) return { kind: 'web-fetch' };
  return tool.codeExecution === undefined ? undefined : { kind: 'code-execution' };
}

function textsOf(value: JsonObject[string] | undefined): string[] | undefined {
  const texts = arrayOf(value)?.filter((entry) => typeof entry === 'string');
  return texts === undefined || texts.length === 0 ? undefined : texts;
}
