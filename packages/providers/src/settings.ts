import type { ProviderEntry, ReadSetting } from './contract.ts';
import type { SettingName } from './setting-kinds.ts';

const servicePrefix = 'x-service-';

/**
 * Looks up a provider's settings: what is configured – a config's target before
 * the credential's configurations, under `aws_region` or `awsRegion` – and else
 * the caller's header `x-service-aws-region`, if the provider knows that setting.
 */
export function readSettings(
  provider: ProviderEntry,
  configurations: Readonly<Record<string, unknown>>,
  callerHeaders: Readonly<Record<string, string | string[] | undefined>>,
): ReadSetting {
  return (name) => {
    const snake = name.replaceAll('-', '_');
    const configured = text(configurations[snake]) ?? text(configurations[camel(snake)]);
    if (configured !== undefined) return configured;
    const known = name as SettingName;
    if (provider.settings?.includes(known) !== true) return undefined;
    const prefixed = text(callerHeaders[servicePrefix + name]);
    if (prefixed !== undefined || provider.bareSettings?.includes(known) !== true) return prefixed;
    return text(callerHeaders[name]);
  };
}

function camel(snake: string): string {
  return snake.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function text(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  // A service account may be stored as the object that it is, deployments as a list.
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
