import { z } from 'zod';
import { headerNameField, hostField } from './fields/fields.ts';
import { keptOnly, openObject } from './fields/kept-only.ts';

const names = z.array(z.string().max(128)).max(100);

/** How a server or an agent learns who is calling. */
export const userIdentityForwarding = openObject({
  method: z.enum(['claims_header', 'bearer', 'jwt_header']),
  include_claims: names.nullish(),
  header_name: headerNameField.nullish(),
  /** With `bearer`: the administrator wants a token that was meant for the gateway to be shown elsewhere. */
  forward_gateway_token: z.boolean().nullish(),
});

export type UserIdentityForwarding = z.output<typeof userIdentityForwarding>;

/** `none` and shared secrets are no proof of who signed: only key pairs are taken. */
const signatures = z.enum([
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA'] as const),
]);

const oneOrMore = z.union([z.string().max(1024), z.array(z.string().max(1024)).max(100)]);

/** A token of the end user that is asked for beside the gateway's own credential. */
export const jwtValidation = openObject({
  jwksUri: hostField.nullish(),
  jwks: z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) }).nullish(),
  introspectEndpoint: hostField.nullish(),
  /** `application/json` unless said otherwise; RFC 7662 wants a form. */
  introspectContentType: z
    .enum(['application/json', 'application/x-www-form-urlencoded'])
    .nullish(),
  introspectClientId: z.string().min(1).max(512).nullish(),
  introspectClientSecret: z.string().min(1).max(4096).nullish(),
  /** Seconds for which an answer is kept. */
  introspectCacheMaxAge: z.number().min(0).max(3_600).nullish(),
  headerKey: headerNameField.nullish(),
  algorithms: z.array(signatures).min(1).max(10).nullish(),
  /** Seconds. */
  clockTolerance: z.number().min(0).max(300).nullish(),
  /** Seconds for which fetched keys are kept. */
  cacheMaxAge: z.number().min(10).max(604_800).nullish(),
  /** How long after its `iat` a token is taken: seconds, or e.g. `12h`. */
  maxTokenAge: z
    .union([
      z.int().min(1).max(31_536_000),
      z.string().regex(/^[1-9]\d{0,5}[smhdw]$/, 'must be a number and one of s, m, h, d, w'),
    ])
    .nullish(),
  /** Whom a token must be for: one of these. */
  audience: oneOrMore.nullish(),
  requiredClaims: names.nullish(),
  claimValues: z
    .record(
      z.string().max(128),
      z.object({
        values: oneOrMore,
        matchType: z.enum(['exact', 'contains', 'containsAll', 'regex']).default('exact'),
      }),
    )
    .nullish(),
  /** Names that the token's header and its payload must both have, with one value. */
  headerPayloadMatch: names.nullish(),
})
  .refine(
    ({ jwksUri, jwks, introspectEndpoint }) =>
      [jwksUri, jwks, introspectEndpoint].filter((source) => source != null).length === 1,
    'needs exactly one of jwksUri, jwks and introspectEndpoint',
  )
  .refine(
    ({ jwks }) => (jwks?.keys ?? []).every((key) => !('d' in key) && !('k' in key)),
    'may hold public keys only',
  );

export type JwtValidation = z.output<typeof jwtValidation>;

/**
 * An authorisation server of the organisation's own, which gives the tokens for a server in place of ours. Clients learn where people are
 * asked, and where tokens are, from its own metadata: endpoints and client that others' settings name are kept and mean nothing here.
 */
export const externalAuthConfig = openObject({
  issuer: hostField,
  /** Without it that of the issuer's metadata. */
  jwks_uri: hostField.nullish(),
  algorithms: z.array(signatures).min(1).max(10).nullish(),
  /** Whom a token must be for, one of these; the address of the server as it was called, unless set. */
  audience: oneOrMore.nullish(),
  /** The claim that names the user: their e-mail address here, or their id. */
  user_claim: z.string().min(1).max(128).nullish(),
  /** What a token must have, all of them; what clients ask for. */
  scope: z.string().max(2048).nullish(),
  authorization_endpoint: foundByClients(hostField),
  token_endpoint: foundByClients(hostField),
  registration_endpoint: foundByClients(hostField),
  client_id: foundByClients(z.string().max(2048)),
  client_secret: foundByClients(z.string().max(8192)),
  authorization_params: foundByClients(z.record(z.string().max(128), z.string().max(2048))),
});

function foundByClients<S extends z.ZodType>(schema: S) {
  // Around a copy: fields of others are made of the same schemas.
  return keptOnly(schema.nullish(), 'clients find it in the metadata of the issuer');
}

export type ExternalAuthConfig = z.output<typeof externalAuthConfig>;

/** Somebody whom an issuer knows, at one server: by its own name for them, and as the user that it says they are. */
export interface IssuerLogin {
  readonly serverId: string;
  readonly issuer: string;
  readonly subject: string;
  readonly user: string;
}

/** What they are hashed as, in place of a key. It is no well-formed key, so nobody can send it as one. */
export function issuerLoginSecret({ serverId, issuer, subject, user }: IssuerLogin): string {
  return `mcp-issuer:${JSON.stringify([serverId.toLowerCase(), issuer, subject, user])}`;
}

/** `iss` of statements of who calls, as other gateways of this kind have it. */
export const identityIssuer = 'service-mcp-gateway';
export const identityLifetimeSeconds = 300;

/** What gateways tell a server of who calls, where there is something to tell. */
export const toldClaims = [
  'sub',
  'username',
  'user_id',
  'workspace_id',
  'workspace_slug',
  'organisation_id',
  'scope',
  'client_id',
] as const;

/** What a server may be told: what a gateway asks to be signed beyond these is left out. */
export const identityClaims = [...toldClaims, 'email'] as const;
