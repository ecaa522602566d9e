import type { IdleField, JwtSettings } from '@sluice/contracts/admin';
import { idleKeys, readKeySet } from '@sluice/jwt';
import { idleLines } from '../../kernel/http/idle-warnings.ts';

/**
 * What of the settings of tokens does nothing beside the rest of them.
 * @param sent as it came, without what stands for what was not said
 * @returns sentences for `warnings`
 */
export function idleJwtSettings(settings: JwtSettings, sent: unknown): readonly string[] {
  const isSent = (name: string) => Object.hasOwn(Object(sent), name);
  const { jwks, jwks_url: url, introspection } = settings;
  const idle: IdleField[] = [];
  const tell = (path: string, why: string) => idle.push({ path, why });
  if (url === undefined && isSent('jwks_max_age_s'))
    tell('jwks_max_age_s', 'no keys are fetched where there is no jwks_url');
  if (introspection !== undefined && isSent('algorithms'))
    tell('algorithms', 'with introspection the issuer is asked, and no signature is looked at');
  if (introspection?.client_secret !== undefined && introspection.client_id === undefined)
    tell('introspection.client_secret', 'it is sent beside a client_id alone');
  const keys = jwks === undefined ? undefined : readKeySet(jwks);
  for (const { index, reason } of keys === undefined ? [] : idleKeys(keys, settings.algorithms))
    tell(`jwks.keys[${index}]`, `it ${reason}`);
  return idleLines(idle, 'body.jwt');
}
