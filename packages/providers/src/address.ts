import { GatewayError } from '@sluice/errors';
import type { CallFacts, ReadSetting } from './call-facts.ts';
import type { EndpointEntry, ProviderEntry, Template } from './contract.ts';

/** What may stand in a host or a path without changing what it means. */
const safeSetting = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,254}[A-Za-z0-9_])?$/;

/**
 * The address an endpoint is reached at, without a trailing slash.
 * @throws GatewayError `provider.setting_missing`, `provider.setting_invalid`
 */
export function baseUrlOf(
  provider: ProviderEntry,
  entry: EndpointEntry | undefined,
  facts: CallFacts,
): string {
  const url = fill(entry?.baseUrl ?? provider.baseUrl, facts);
  if (url === '')
    throw new GatewayError('provider.setting_missing', {
      field: 'x-service-custom-host',
      message: `The provider ${provider.id} has no address of its own: name one with x-service-custom-host, or in the provider.`,
    });
  return url;
}

/** The path of an endpoint, possibly with a query; begins with a slash. */
export function pathOf(entry: EndpointEntry, facts: CallFacts): string {
  return fill(entry.path, facts);
}

function fill(template: Template, facts: CallFacts): string {
  if (typeof template !== 'string') return template(facts);
  if (!template.includes('{')) return template;
  return template.replace(/\{([a-z0-9-]+)\}/g, (_, name: string) =>
    requiredSetting(facts.setting, name),
  );
}

/**
 * A setting that becomes part of an address.
 * @throws GatewayError when it is not set, or has characters that would lead elsewhere
 */
export function requiredSetting(setting: ReadSetting, name: string): string {
  const value = setting(name);
  if (value === undefined)
    throw new GatewayError('provider.setting_missing', {
      field: `x-service-${name}`,
      message: `This provider needs the setting ${name}: send x-service-${name}, or keep it in the provider.`,
    });
  return checkedSetting(name, value);
}

/** The same for a setting that has a default. */
export function optionalSetting(setting: ReadSetting, name: string, fallback: string): string {
  const value = setting(name);
  return value === undefined ? fallback : checkedSetting(name, value);
}

/** The values of those of these settings that are set. */
export function namesIn(setting: ReadSetting, ...names: string[]): string[] {
  return names.flatMap((name) => setting(name) ?? []);
}

/** A setting's value, once it is known to lead nowhere else. */
export function checkedSetting(name: string, value: string): string {
  if (!safeSetting.test(value) || value.includes('..'))
    throw new GatewayError('provider.setting_invalid', {
      field: `x-service-${name}`,
      message: `The setting ${name} may have only letters, digits, dots, hyphens and underscores.`,
    });
  return value;
}

/**
 * A setting that is an address, without a slash at its end. Whether it may stand
 * beside the credential is not decided here, and by no list of vendors' domains:
 * under most of them strangers can open a host.
 */
export function addressSetting(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isBare =
    url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url?.protocol !== 'https:' || !isBare)
    throw new GatewayError('provider.setting_invalid', {
      field: `x-service-${name}`,
      message: `The setting ${name} must be an https address without user, query and fragment; others are named by the custom host.`,
    });
  return value.replace(/\/+$/, '');
}

/** A model's name as one segment of a path: slashes, colons and all are encoded. */
export function modelSegment(model: string): string {
  // Half of a character has no encoding.
  if (model === '' || model === '.' || model === '..' || !model.isWellFormed())
    throw new GatewayError('request.invalid_field', {
      field: 'body.model',
      message: 'body.model must name a model.',
    });
  return encodeURIComponent(model);
}

/** A model's name as several segments, e.g. `meta/llama-3`; each is encoded, none may lead upwards. */
export function modelPath(model: string): string {
  return model.split('/').map(modelSegment).join('/');
}
