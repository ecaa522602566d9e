import { declaredSettings } from '@sluice/providers';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { Target } from '../exchange/target.ts';
import { credentialNames } from '../http/credential-headers.ts';

/**
 * Whose account answers: a saved provider's, under its name, or the very
 * headers and settings that say so. What is kept for one must not be given to
 * another, so all that a caller or a config adds to the credential counts.
 * Holds secrets: for hashing only.
 */
export function credentialOf(target: Target, { headers }: Pick<PreparedCall, 'headers'>): string {
  const settings = addedSettings(target);
  const isCallers = target.planned.apiKey !== undefined || target.saved === undefined;
  const isForwarded = target.forwardHeaders?.some((name) =>
    credentialNames.includes(name.toLowerCase()),
  );
  if (!isCallers && isForwarded !== true)
    return settings.length === 0
      ? `@${target.saved?.slug}`
      : JSON.stringify([`@${target.saved?.slug}`, settings]);
  return JSON.stringify([
    target.apiKey,
    credentialNames.map((name) => headers[name]),
    settings,
    target.saved?.slug,
  ]);
}

/** Settings of the provider that stand in headers or in the config, such as keys, roles and tokens. */
function addedSettings({ entry, settingHeaders, planned }: Target): unknown[] {
  const settings: unknown[] = [];
  for (const { name, kind, header, isBare } of declaredSettings(entry)) {
    // Headers of the vendor's format decide over the answer, not over who gives it.
    if (kind === 'protocol') continue;
    const value = settingHeaders[header] ?? (isBare ? settingHeaders[name] : undefined);
    if (value !== undefined) settings.push([name, value]);
  }
  const { configurations } = planned;
  if (Object.keys(configurations).length > 0) settings.push(configurations);
  return settings;
}
