import type { ProviderEntry } from './contract.ts';
import type { SettingName } from './setting-kinds.ts';

/**
 * How a setting is kept. All may be texts; numbers and booleans count as such.
 *
 * `word`    what becomes part of a header or an address: no control characters
 * `text`    may have lines
 * `list`    a list, or its JSON
 * `object`  an object, or its JSON
 */
export type SettingForm = 'word' | 'text' | 'list' | 'object';

/** One setting that admins may keep beside the credential. */
export interface KeptSetting {
  /** With underscores, as it is kept. */
  name: string;
  form: SettingForm;
}

const forms: Partial<Readonly<Record<SettingName, SettingForm>>> = {
  'azure-deployment-config': 'list',
  deployments: 'list',
  'oracle-private-key': 'text',
  'vertex-service-account-json': 'object',
};

/** All that is read of what is kept beside a credential of this provider. */
export function keptSettings(provider: ProviderEntry): readonly KeptSetting[] {
  const { settings = [], keptSettings: further = [], configurationHeaders = {} } = provider;
  const read = [...settings, ...further].map((name) => ({
    name: name.replaceAll('-', '_'),
    form: forms[name] ?? 'word',
  }));
  const sent = Object.values(configurationHeaders)
    .filter((name) => !read.some((setting) => setting.name === name))
    .map((name) => ({ name, form: 'word' as const }));
  return [...read, ...sent];
}
