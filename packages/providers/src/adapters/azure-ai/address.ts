import { addressSetting, checkedSetting } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';

/** The version that the inference API has kept since its preview. */
const defaultVersion = '2024-05-01-preview';

/** The address as set; empty when only a custom host can say it. */
export function foundryUrl({ setting }: CallFacts): string {
  const value = setting('azure-foundry-url');
  if (value === undefined) return '';
  const url = addressSetting('azure-foundry-url', value);
  // A resource alone: its models are one step down.
  return isResource(url) && new URL(url).pathname === '/' ? `${url}/models` : url;
}

/** Claude has an address of its own, and one more in each resource. */
export function isClaude(facts: CallFacts): boolean {
  const { setting, model, modelOverrides } = facts;
  const url = setting('azure-foundry-url') ?? '';
  const name = modelOverrides?.realName(model) ?? model;
  return url.includes('anthropic') || (isResource(url) && name.startsWith('claude'));
}

/** A resource, as opposed to a deployment with an address of its own. */
export function servesAllVendors({ setting }: CallFacts): boolean {
  return isResource(setting('azure-foundry-url') ?? '');
}

function isResource(url: string): boolean {
  return URL.canParse(url) && new URL(url).hostname.endsWith('.services.ai.azure.com');
}

export function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}

/** With the API version, which all addresses want but those that end in one. */
export function versioned(path: string, { setting }: CallFacts): string {
  const url = setting('azure-foundry-url') ?? '';
  const version = setting('azure-api-version');
  const needsNone = url === '' || /\/v1\/?$/.test(url);
  if (version === 'v1' || (version === undefined && needsNone)) return path;
  return `${path}?api-version=${checkedSetting('azure-api-version', version ?? defaultVersion)}`;
}
