import { type SecretMapping, settingBearsAddress } from '@sluice/contracts/admin';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import {
  type AddressRule,
  guardKeptSecrets,
  hasSameAddresses,
  normalisedAddress,
  type SecretHolder,
  soundsLikeAddress,
} from '../../kernel/credentials/guard-kept-secrets.ts';
import { fieldOf, maskValue } from '../../kernel/credentials/secret-fields.ts';
import type { Database } from '../../kernel/database/client.ts';
import { mappedValues } from '../secret-references/mapped-values.ts';
import { type Credentials, shownConfigurations } from './configurations.ts';
import { openModelSettings } from './model-settings.ts';
import { findModelsWithSettings } from './store.ts';

type Settings = Readonly<Record<string, unknown>>;

/** What an integration calls its provider with, and where. */
export interface Calling extends Credentials {
  mappings: readonly SecretMapping[];
}

/** The names under which a request sends what belongs to the integration. */
export type NameSetting = (setting: string) => string;

export const inConfigurations: NameSetting = (setting) => `body.configurations.${setting}`;

/**
 * Keeps the key and the secret settings of an integration with its address, and
 * those of its models, which go to the integration's address where a model has
 * none of its own.
 * @throws 400 `admin.secret_required`
 */
export async function guardIntegration(
  db: Database,
  vault: CredentialVault,
  id: string,
  change: { before: Calling; after: Calling; sent: unknown; nameOf: NameSetting },
): Promise<void> {
  const { after, sent, nameOf } = change;
  const before = withoutRemovedHosts(change.before, after);
  const [old, now] = [documentOf(before), documentOf(after)];
  if (hasSameAddresses(old, now, isAddress)) return;
  const models = (await findModelsWithSettings(db, id)).map((row) => ({
    slug: row.slug,
    settings: openModelSettings(vault, row),
  }));
  const holders = (calling: Calling) => [
    holderOf(calling, {}, nameOf, ''),
    ...models.map(({ slug, settings }) =>
      holderOf(calling, settings, nameOf, `models.${slug}.configurations`),
    ),
  ];
  guardKeptSecrets(holders(before), holders(after), sent, isAddress);
}

/**
 * What was there before without the allowed hosts that the change removes: one
 * address fewer leads nowhere new, and taking one away must not wait for secrets.
 */
function withoutRemovedHosts(before: Calling, after: Calling): Calling {
  const kept = new Set(allowedHostsOf(after).map(normalisedAddress));
  const hosts = allowedHostsOf(before).filter((host) => kept.has(normalisedAddress(host)));
  return { ...before, configurations: { ...before.configurations, allowed_custom_hosts: hosts } };
}

function allowedHostsOf({ configurations }: Calling): string[] {
  const { allowed_custom_hosts: hosts } = configurations;
  return Array.isArray(hosts) ? hosts.map(String) : [];
}

/**
 * The same for a change of models: the integration's key goes to a model's
 * address too, so a new one asks for it.
 */
export function guardModels(
  calling: Calling,
  models: readonly { before: Settings; after: Settings }[],
  sent: unknown,
): void {
  const holder = (settings: Settings, field: string) =>
    holderOf(calling, settings, inConfigurations, field);
  guardKeptSecrets(
    [holder({}, ''), ...models.map(({ before }) => holder(before, ''))],
    models.map(({ after }, index) => holder(after, `body.models[${index}].configurations`)),
    sent,
    isAddress,
  );
}

/** What a call holds: the credentials, with what the model has of its own. */
function documentOf(calling: Calling, model: Settings = {}) {
  const { custom_host: host, ...own } = model;
  return {
    key: calling.key,
    configurations: { ...calling.configurations, ...(host == null ? {} : { custom_host: host }) },
    mapped: mappedValues(calling.mappings),
    model: own,
  };
}

function holderOf(
  calling: Calling,
  model: Settings,
  nameOf: NameSetting,
  modelField: string,
): SecretHolder {
  const document = documentOf(calling, model);
  return {
    document,
    shown: {
      ...document,
      key: calling.key === null ? null : maskValue(calling.key),
      configurations: shownConfigurations(document.configurations),
      model: shownConfigurations(document.model),
    },
    fieldOf: ([part, name, ...rest]) => {
      if (part === 'key') return 'body.key';
      if (part === 'mapped') return 'body.secret_mappings';
      if (part === 'model' || (name === 'custom_host' && model.custom_host != null))
        return fieldOf(`${modelField}.${name}`, rest);
      return fieldOf(nameOf(String(name)), rest);
    },
  };
}

/** Of a setting that nobody declared it is assumed that it becomes part of an address. */
const isAddress: AddressRule = (names, value, isSecret) => {
  const [part, setting = ''] = names;
  if (part === 'mapped') return settingBearsAddress(setting);
  if (soundsLikeAddress(names, value, isSecret)) return true;
  if (part !== 'configurations' || isSecret || typeof value !== 'string') return false;
  return settingBearsAddress(setting);
};
