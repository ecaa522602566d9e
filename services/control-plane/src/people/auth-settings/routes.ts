import { implementAll } from '../../kernel/http/implement.ts';
import {
  type AuthSettingsParts,
  changeJwtSettings,
  changeOidcSettings,
  readAuthSettings,
} from './operations.ts';

/** How tokens of the organisation's own identity provider are validated, and where its people log in. */
export function authSettingsOperations(parts: AuthSettingsParts) {
  return implementAll('organisation.auth-settings', {
    read: (call) => readAuthSettings(call),
    update: async (call, { body }) => {
      if (body.jwt !== undefined) await changeJwtSettings(call, body.jwt, parts);
      if (body.oidc !== undefined) await changeOidcSettings(call, body.oidc, parts);
    },
  });
}
