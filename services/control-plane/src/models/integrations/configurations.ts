import { isSecretName } from '../../kernel/credentials/mask.ts';
import {
  isMask,
  keepMasked,
  maskDocument,
  maskValue,
  restoreSecrets,
} from '../../kernel/credentials/secret-fields.ts';

/** What is encrypted of an integration: the key and the settings with their secrets in clear. */
export interface Credentials {
  key: string | null;
  configurations: Record<string, unknown>;
}

/** Settings that look like secrets by name and are none, and the other way round. */
const openNames = new Set(['aws_role_arn', 'aws_external_id']);
const closedNames = new Set(['vertex_service_account_json', 'aws_access_key_id']);

/** Whether a setting of this name is a secret as a whole. */
function isSecretSetting(name: string): boolean {
  return closedNames.has(name) || (isSecretName(name) && !openNames.has(name));
}

/** The settings as they may be shown: secrets appear as `masked_<name>`. */
export function shownConfigurations(
  configurations: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configurations).map(([name, value]) => {
      if (isSecretSetting(name)) return [`masked_${name}`, maskValue(value)];
      return [name, maskDocument(value, name)];
    }),
  );
}

/**
 * Settings as a row has them for showing. The release before left headers in
 * clear whose names do not sound secret; a replica of it may still write so.
 */
export function withHeadersMasked(shown: Readonly<Record<string, unknown>>) {
  const headers = shown.custom_headers;
  if (typeof headers !== 'object' || headers === null) return { ...shown };
  const masked = Object.entries(headers).map(([name, value]) => [
    name,
    isMask(value) || value === '' ? value : maskValue(value),
  ]);
  return { ...shown, custom_headers: Object.fromEntries(masked) as Record<string, unknown> };
}

/** A change of settings: what is named replaces, null removes, the rest stays; a mask means the secret behind it. Names as shown are ignored. */
export function mergeConfigurations(
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>> | null | undefined,
  fieldOf: (setting: string) => string,
): Record<string, unknown> {
  if (change === undefined) return { ...before };
  if (change === null) return {};
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(change)) {
    if (name.startsWith('masked_')) continue;
    if (value === null) delete merged[name];
    else if (isSecretSetting(name)) merged[name] = keepMasked(before[name], value, fieldOf(name));
    else merged[name] = restoreSecrets(value, before[name], fieldOf(name), name);
  }
  return merged;
}
