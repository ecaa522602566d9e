import { implement } from '../../kernel/http/implement.ts';
import type { Operation } from '../../kernel/http/operation.ts';
import { type AuthSettingsParts, changeJwtSettings, readAuthSettings } from './operations.ts';

/** How tokens of the organisation's own identity provider are validated. */
export function authSettingsOperations(parts: AuthSettingsParts): readonly Operation[] {
  return [
    implement('organisation.auth-settings.read', (call) => readAuthSettings(call)),
    implement('organisation.auth-settings.update', async (call, { body }) => {
      if (body.jwt !== undefined) await changeJwtSettings(call, body.jwt, parts);
      return {};
    }),
  ];
}
