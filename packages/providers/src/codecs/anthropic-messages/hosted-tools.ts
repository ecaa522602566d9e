import type { ChatRequest, JsonObject, ProviderTool } from '@sluice/contracts';
import type { ProviderEntry } from '../../contract.ts';
import { compact } from '../../json/json-access.ts';
import { type HostedTool, hostedTool, lostOptions } from '../hosted-tools.ts';
import { formatName } from './wire.ts';

interface Encoded {
  tool: JsonObject;
  /** What the provider wants said beside. */
  beta?: string;
}

const all = ['web-search', 'web-fetch', 'code-execution'] as const;

/**
 * What is run where Claude is offered; elsewhere nothing is.
 * https://platform.claude.com/docs/en/build-with-claude/overview, November 2026
 */
const kindsOfHost: Readonly<Record<string, readonly HostedTool['kind'][]>> = {
  anthropic: all,
  'claude-google-cloud': all,
  'claude-platform-aws': all,
  'azure-ai': all,
  'vertex-ai': ['web-search'],
};

/** Tools that another provider would run, as this one runs them. */
export class HostedTools {
  #provider: ProviderEntry;
  #betas: string[];

  /** Adds to `betas` what the tools need. */
  constructor(provider: ProviderEntry, betas: string[]) {
    this.#provider = provider;
    this.#betas = betas;
  }

  /** Undefined where there is none, or where a function of the request has taken its name. */
  encode(tool: ProviderTool, { tools }: ChatRequest, dropped: string[]): JsonObject | undefined {
    const hosted = hostedTool(tool);
    // What the caller wrote in this format goes as it is.
    if (hosted === undefined || tool.format === formatName) return undefined;
    if (kindsOfHost[this.#provider.id]?.includes(hosted.kind) !== true) return undefined;
    const encoded = encode(hosted);
    const taken = tools?.some(
      (other) => other.type === 'function' && other.name === encoded.tool.name,
    );
    if (taken === true) return undefined;
    const { beta } = encoded;
    if (beta !== undefined && !this.#betas.includes(beta)) this.#betas.push(beta);
    const isSearch = hosted.kind === 'web-search';
    dropped.push(...lostOptions(tool, isSearch ? searchOptions : []));
    return encoded.tool;
  }
}

const searchOptions = ['allowedDomains', 'blockedDomains', 'userLocation', 'usesMax'] as const;

function encode(hosted: HostedTool): Encoded {
  switch (hosted.kind) {
    case 'web-search': {
      const { allowedDomains, blockedDomains, userLocation, usesMax } = hosted;
      const search = {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: usesMax,
        allowed_domains: allowedDomains,
        // One of the two lists only.
        blocked_domains: allowedDomains === undefined ? blockedDomains : undefined,
        user_location: userLocation && { ...userLocation, type: 'approximate' },
      };
      return { tool: compact<Record<string, unknown>>(search) as JsonObject };
    }
    case 'web-fetch':
      return {
        tool: { type: 'web_fetch_20250910', name: 'web_fetch' },
        beta: 'web-fetch-2025-09-10',
      };
    case 'code-execution':
      return {
        tool: { type: 'code_execution_20250825', name: 'code_execution' },
        beta: 'code-execution-2025-08-25',
      };
  }
}
