import {
  agentSettingNames,
  bearsAddress,
  mcpSettingNames,
  type SecretMapping,
} from '@sluice/contracts/admin';
import { parseText } from '@sluice/json';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import {
  type AddressRule,
  guardKeptSecrets,
  hasSameAddresses,
  soundsLikeAddress,
} from '../../kernel/credentials/guard-kept-secrets.ts';
import {
  fieldOf,
  maskDocument,
  type Path,
  restoreSecrets,
} from '../../kernel/credentials/secret-fields.ts';
import { bytes } from '../../kernel/database/change.ts';
import { mappedValues } from '../../models/secret-references/mapped-values.ts';
import type { RegistryKind } from './registry-kind.ts';
import type { Configurations, IntegrationRow } from './tables.ts';

/** Each value is sealed for one row of one table. */
function addressOf(kind: RegistryKind, id: string) {
  return { table: `${kind.name}_integrations`, id };
}

/** The columns that hold the settings: sealed, and as they may be shown. */
export function configurationColumns(
  vault: CredentialVault,
  kind: RegistryKind,
  id: string,
  configurations: Configurations,
) {
  return {
    sealedConfigurations: bytes(vault.seal(JSON.stringify(configurations), addressOf(kind, id))),
    configurations: maskDocument(configurations) as Record<string, never>,
  };
}

/** The settings with their secrets in clear. */
export function openConfigurations(
  vault: CredentialVault,
  kind: RegistryKind,
  row: Pick<IntegrationRow, 'id' | 'sealedConfigurations'>,
): Configurations {
  const sealed = Buffer.from(row.sealedConfigurations);
  return parseText(vault.open(sealed, addressOf(kind, row.id))) as Configurations;
}

/** What is named replaces, null removes, the rest stays; a mask means the secret behind it. */
export function mergeConfigurations(
  before: Configurations,
  change: Configurations | null | undefined,
): Configurations {
  if (change === undefined) return before;
  if (change === null) return {};
  const meant = restoreSecrets(change, before, 'body.configurations') as Configurations;
  return Object.fromEntries(
    Object.entries({ ...before, ...meant }).filter(([, value]) => value !== null),
  );
}

/** Where an integration is, and how it is called there. */
export interface Calling {
  readonly url: string;
  readonly configurations: Configurations;
  readonly mappings: readonly SecretMapping[];
}

/**
 * Keeps secrets with the addresses they were given for.
 * @throws 400 `admin.secret_required`
 */
export function guardConfigurations(before: Calling, after: Calling, sent: unknown): void {
  guardKeptSecrets([holderOf(before)], [holderOf(after)], sent, isAddress);
}

/** Whether both lead to the same server and the same places of sign-in. */
export function leadsToTheSame(before: Calling, after: Calling): boolean {
  return hasSameAddresses(documentOf(before), documentOf(after), isAddress);
}

function documentOf({ url, configurations, mappings }: Calling) {
  return { url, configurations, mapped: mappedValues(mappings) };
}

function holderOf(calling: Calling) {
  const document = documentOf(calling);
  return {
    document,
    shown: { ...document, configurations: maskDocument(document.configurations) },
    fieldOf: (path: Path) =>
      path[0] === 'mapped' ? 'body.secret_mappings' : fieldOf('body', path),
  };
}

/** Settings that we know: of those the names tell what is an address. */
const knownSettings: ReadonlySet<string> = new Set([...mcpSettingNames, ...agentSettingNames]);

/** Of a setting that nobody knows it is assumed that it leads somewhere. */
const isAddress: AddressRule = (names, value, isSecret) => {
  if (soundsLikeAddress(names, value, isSecret)) return true;
  const [part, setting = ''] = names;
  if (part === 'mapped') {
    const steps = setting.split('.');
    return bearsAddress(steps.at(-1) ?? '') || !knownSettings.has(steps[0] ?? '');
  }
  if (part !== 'configurations' || isSecret || typeof value !== 'string') return false;
  return !knownSettings.has(setting);
};
