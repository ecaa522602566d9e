import { isSecretName } from '../audit-logs/mask.ts';
import { maskDocument, maskValue, restoreSecrets } from '../credentials/secret-fields.ts';

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
      if (name === 'custom_headers') return [name, shownHeaders(value)];
      if (isSecretSetting(name)) return [`masked_${name}`, maskValue(value)];
      return [name, maskDocument(value)];
    }),
  );
}

/** A change of settings: what is named replaces, null removes, the rest stays. Names as shown are ignored. */
export function mergeConfigurations(
  before: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, unknown> {
  if (change === undefined) return { ...before };
  if (change === null) return {};
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(change)) {
    if (name.startsWith('masked_')) continue;
    if (value === null) delete merged[name];
    else if (name === 'custom_headers') merged[name] = keepMaskedHeaders(before[name], value);
    else if (isSecretSetting(name)) merged[name] = keepMasked(before[name], value);
    else merged[name] = restoreSecrets(value, before[name], `body.configurations.${name}`);
  }
  return merged;
}

function shownHeaders(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => [
      name,
      isSecretName(name) ? maskValue(text) : text,
    ]),
  );
}

/** Someone who sends back what they were shown does not mean the asterisks. */
export function keepMasked<T>(before: T, change: T): T {
  return before !== undefined && before !== null && change === maskValue(before) ? before : change;
}

function keepMaskedHeaders(before: unknown, change: unknown): unknown {
  if (
    typeof change !== 'object' ||
    change === null ||
    typeof before !== 'object' ||
    before === null
  )
    return change;
  const kept = before as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(change).map(([name, value]) => [
      name,
      isSecretName(name) ? keepMasked(kept[name], value) : value,
    ]),
  );
}
