import { z } from 'zod';
import { hostField } from '../../fields/fields.ts';
import { jwtScopes, normaliseScope } from '../../scopes.ts';
import { organisationKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';

/** Only algorithms whose keys have a public half: whoever can verify must not be able to sign. */
export const jwtAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

const claimName = z.string().min(1).max(128);

/** A key as its issuer publishes it; whether it can be used is seen when it is read. */
const publishedKey = z.looseObject({ kty: z.string().max(16), kid: z.string().min(1).max(256) });

const introspection = z.object({
  url: hostField,
  client_id: z.string().min(1).max(512).optional(),
  /** Shown masked; what was shown may be sent back. */
  client_secret: z.string().min(1).max(4096).optional(),
  content_type: z.enum(['form', 'json']).default('form'),
  cache_max_age_s: z.int().min(0).max(3_600).default(60),
});

const scope = z
  .string()
  .max(128)
  .transform(normaliseScope)
  .refine((name) => jwtScopes.has(name), 'is no scope a JWT may have');

/** How the tokens of an organisation are validated: by its issuer's keys, or by asking the issuer. */
export const jwtSettings = z
  .object({
    jwks_url: hostField.optional(),
    jwks: z.object({ keys: z.array(publishedKey).min(1).max(100) }).optional(),
    introspection: introspection.optional(),
    algorithms: z
      .array(z.enum(jwtAlgorithms))
      .max(jwtAlgorithms.length)
      .default([])
      // An empty list is how others write that nothing was chosen.
      .transform((list) => (list.length === 0 ? (['RS256'] as const).slice() : list)),
    clock_tolerance_s: z.int().min(0).max(300).default(5),
    jwks_max_age_s: z.int().min(10).max(604_800).default(86_400),
    /** How long after its `iat` a token is taken at most, e.g. `12h`. */
    token_max_age: z
      .string()
      .regex(/^[1-9]\d{0,5}[smhdw]$/, 'must be a number and one of s, m, h, d, w')
      .optional(),
    required_claims: z.array(claimName).max(20).optional(),
    /** Values of which a claim must have one, e.g. of `iss` and `aud`. */
    claim_values: z
      .record(claimName, z.array(z.string().min(1).max(1024)).min(1).max(50))
      .refine((values) => Object.keys(values).length <= 20, 'may name 20 claims at most')
      .optional(),
    /** For tokens that name none. */
    default_scopes: z.array(scope).max(100).optional(),
  })
  .refine(
    ({ jwks_url, jwks, introspection: asked }) =>
      [jwks_url, jwks, asked].filter((source) => source !== undefined).length === 1,
    'must have exactly one of jwks_url, jwks and introspection',
  );

export type JwtSettings = z.output<typeof jwtSettings>;

const openIdScope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/, 'is no scope');

/** Where people of an organisation log in to let a client of MCP in. */
export const oidcSettings = z.object({
  issuer: hostField,
  client_id: z.string().min(1).max(512),
  /** Shown masked; what was shown may be sent back. */
  client_secret: z.string().min(1).max(4096).optional(),
  scopes: z
    .array(openIdScope)
    .max(20)
    .refine((scopes) => scopes.includes('openid'), 'must have openid')
    .default(['openid', 'email']),
});

export type OidcSettings = z.output<typeof oidcSettings>;

const updateAuthSettings = z.object({
  jwt: jwtSettings.nullable().optional(),
  oidc: oidcSettings.nullable().optional(),
});

const added = 'how JWTs are validated, and where people log in, is not part of the published API';

export const authSettingsEndpoints = {
  'organisation.auth-settings.read': endpoint({
    operationId: 'getOrganisationAuthSettings',
    summary: 'Show how tokens of your identity provider are checked, and where people log in',
    tag: 'Organisation',
    method: 'get',
    path: '/admin/organisation/auth-settings',
    access: { keys: organisationKey, scopes: ['organisation_settings.read'] },
    answer: z.object({ jwt: jwtSettings.nullable(), oidc: oidcSettings.nullable() }),
    added,
  }),
  'organisation.auth-settings.update': endpoint({
    operationId: 'updateOrganisationAuthSettings',
    summary: 'Set how tokens of your identity provider are checked, and where people log in',
    tag: 'Organisation',
    method: 'put',
    path: '/admin/organisation/auth-settings',
    access: { keys: organisationKey, scopes: ['organisation_settings.update'] },
    audit: { resourceType: 'organisation', action: 'update' },
    body: updateAuthSettings,
    answer: nothing,
    added,
  }),
};
