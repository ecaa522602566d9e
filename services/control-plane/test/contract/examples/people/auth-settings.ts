import { generateKeyPairSync } from 'node:crypto';
import { adminOnly, type Example, type Examples } from '../../example.ts';

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const common = {
  algorithms: ['RS256', 'ES256'],
  clock_tolerance_s: 10,
  jwks_max_age_s: 3_600,
  token_max_age: '12h',
  required_claims: ['jti'],
  claim_values: { aud: ['sluice'], iss: ['https://idp.example.com'] },
  default_scopes: ['completions.write'],
};

const withSource = (source: object): Example => ({
  callers: adminOnly,
  body: () => ({ jwt: { ...common, ...source } }),
});

export const examples: Examples = {
  'organisation.auth-settings.read': { callers: adminOnly },
  // Exactly one source of trust may be named.
  'organisation.auth-settings.update': [
    withSource({ jwks_url: 'https://idp.example.com/jwks.json' }),
    withSource({
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key-1', alg: 'RS256' }] },
    }),
    withSource({
      introspection: {
        url: 'https://idp.example.com/introspect',
        client_id: 'sluice',
        client_secret: 'a-secret-of-this-client',
        content_type: 'json',
        cache_max_age_s: 30,
      },
    }),
    {
      callers: adminOnly,
      body: () => ({
        oidc: {
          issuer: 'https://idp.example.com',
          client_id: 'sluice',
          client_secret: 'a-secret-of-this-client',
          scopes: ['openid', 'email', 'profile'],
        },
      }),
    },
  ],
};
