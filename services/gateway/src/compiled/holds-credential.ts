import { type SettingKind, settingKind } from '@sluice/providers';

/** Whether these settings of an admin hold a credential, or say which of the gateway's own is used. */
export function holdsCredential(configurations: Readonly<Record<string, unknown>>): boolean {
  for (const key in configurations) if (!isHarmless(settingKind(nameOf(key)))) return true;
  return false;
}

/** Of an admin's settings: what nobody has said to be harmless is taken for a secret. */
function isHarmless(kind: SettingKind | undefined): boolean {
  switch (kind) {
    case undefined:
    case 'credential':
    case 'role':
      return false;
    default:
      return true;
  }
}

/** The neutral name of a setting as credentials and configs have it: `aws_region`. */
export function nameOf(key: string): string {
  return key.replaceAll('_', '-').toLowerCase();
}
