import type { ProviderEntry } from './contract.ts';
import type { SettingName } from './setting-kinds.ts';

/**
 * How a setting is kept. All may be texts; numbers and booleans count as such.
 *
 * `header`  what is a header's whole value
 * `word`    what becomes part of a header or an address: no control characters
 * `text`    may have lines
 * `list`    a list, or its JSON
 * `object`  an object, or its JSON
 */
export type SettingForm = 'header' | 'word' | 'text' | 'list' | 'object';

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
  const { settings = [], keptSettings: further = [] } = provider;
  const { callerHeaders = [], settingHeaders = {} } = provider;
  const sent = new Set([...callerHeaders, ...Object.values(settingHeaders)].map(keptName));
  const read = [...settings, ...further].map((setting) => {
    const name = keptName(setting);
    return { name, form: forms[setting] ?? (sent.has(name) ? 'header' : 'word') };
  });
  const others = [...sent].filter((name) => !read.some((setting) => setting.name === name));
  return [...read, ...others.map((name) => ({ name, form: 'header' as const }))];
}

/** How the key itself is kept: some clouds' are documents of which a proof is made. */
export function keyForm({ auth }: ProviderEntry): SettingForm {
  return auth.type === 'google' || auth.type === 'oci' ? 'text' : 'header';
}

function keptName(setting: SettingName): string {
  return setting.replaceAll('-', '_');
}
