import { maskServiceKey } from '@sluice/contracts';
import { isSecretName } from '../audit-logs/mask.ts';

/** What is encrypted of an integration: the key and the settings with their secrets in clear. */
export interface Credentials {
  key: string | null;
  configurations: Record<string, unknown>;
}

/** Settings that look like secrets by name and are none, and the other way round. */
const openNames = new Set(['aws_role_arn', 'aws_external_id']);
const closedNames = new Set(['vertex_service_account_json', 'aws_access_key_id']);

/** The settings as they may be shown: secrets appear as `masked_<name>`. */
export function shownConfigurations(
  configurations: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configurations).map(([name, value]) => {
      if (name === 'custom_headers') return [name, shownHeaders(value)];
      const secret = closedNames.has(name) || (isSecretName(name) && !openNames.has(name));
      return secret ? [`masked_${name}`, maskValue(value)] : [name, value];
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
    else
      merged[name] =
        name === 'custom_headers' ? keepMaskedHeaders(before.custom_headers, value) : value;
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
      isSecretName(name) && kept[name] !== undefined && value === maskValue(kept[name])
        ? kept[name]
        : value,
    ]),
  );
}

export function maskValue(value: unknown): string {
  return typeof value === 'string' && value.length >= 12 ? maskServiceKey(value) : '*******';
}
