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
