import { implementAll } from '../../kernel/http/implement.ts';
import { type AuthSettingsParts, changeAuthSettings, readAuthSettings } from './operations.ts';

/** How tokens of the organisation's own identity provider are validated, and where its people log in. */
export function authSettingsOperations(parts: AuthSettingsParts) {
  return implementAll('organisation.auth-settings', {
    read: (call) => readAuthSettings(call),
    update: (call, { body }) => changeAuthSettings(call, body, parts),
  });
}
