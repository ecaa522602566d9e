import { jwtScopes } from '@sluice/contracts';
import type { JwtSettings } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import {
  createTokenAuthority,
  invalidToken,
  maskToken,
  nameToken,
  organisationOf,
  peekToken,
  type RefusalLog,
  subjectId,
  type TokenAuthority,
  TokenCache,
  type TokenClaims,
  tokenNotAccepted,
  userOf,
  type VerifiedToken,
} from '@sluice/jwt';
import type { GuardedFetch } from '@sluice/outbound';
import type { Request } from 'express';
import type { Caller } from '../../kernel/access/caller.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { maskText } from '../../kernel/credentials/mask.ts';
import type { Database } from '../../kernel/database/client.ts';
import { clientAddress } from '../../kernel/http/arrival.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import { findDefaultWorkspace, findWorkspace } from '../../kernel/tenancy/find-workspace.ts';
import { openJwtSettings } from '../auth-settings/settings.ts';
import { findAuthSettings } from '../auth-settings/store.ts';
import { findUserByEmail } from '../users/store.ts';

export interface TokenCallerParts {
  db: Database;
  vault: CredentialVault;
  fetch: GuardedFetch;
  refusals: RefusalLog;
  now: () => Date;
}

export type AuthenticateToken = (token: string, req: Request) => Promise<Caller>;

/** Who vouches for an organisation's tokens, as long as its settings are these. */
interface Vouching {
  settingsText: string;
  authority: TokenAuthority;
  verified: TokenCache<VerifiedToken>;
}

const organisationsMax = 1_000;
const tokensMax = 2_000;

/**
 * Callers by JWT. Settings, workspace and user are looked up each time, so that
 * a change counts at once; only what an issuer said of a token is remembered.
 */
export function createTokenAuthenticate(parts: TokenCallerParts): AuthenticateToken {
  const vouching = new Map<string, Vouching>();

  /** Kept while the settings stay as they are. */
  function vouchingOf(organisationId: string, settings: JwtSettings): Vouching {
    const settingsText = JSON.stringify(settings);
    const known = vouching.get(organisationId);
    if (known?.settingsText === settingsText) return known;
    const authority = createTokenAuthority({
      settings,
      fetch: parts.fetch,
      now: () => parts.now().getTime(),
    });
    const made = { settingsText, authority, verified: new TokenCache<VerifiedToken>(tokensMax) };
    if (vouching.size >= organisationsMax) vouching.clear();
    vouching.set(organisationId, made);
    return made;
  }

  async function callerOf(token: string, organisationId: string, req: Request): Promise<Caller> {
    const row = await findAuthSettings(parts.db, organisationId);
    if (row === null) throw invalidToken('The organisation of the token does not exist.');
    const settings = openJwtSettings(parts.vault, row);
    if (settings === undefined)
      throw tokenNotAccepted('The organisation has not set up how its tokens are validated.');
    const { authority, verified } = vouchingOf(organisationId, settings);
    const name = nameToken(token);
    const { claims } =
      verified.get(name, parts.now().getTime()) ??
      (await verified.load(name, () => authority.verify(token, clientAddress(req))));
    // An introspection endpoint may answer for somebody else than was asked about.
    if (claims.organisation !== undefined && claims.organisation !== organisationId)
      throw invalidToken('The token is for another organisation.');
    return asCaller(parts.db, organisationId, claims, settings);
  }

  return async (token, req) => {
    const peeked = peekToken(token);
    const organisationId = peeked && organisationOf(peeked.payload);
    if (organisationId === undefined || !isUuid(organisationId))
      throw invalidToken('The token names no organisation.');
    try {
      return await callerOf(token, organisationId, req);
    } catch (error) {
      if (error instanceof GatewayError && isRefusal(error))
        await report(token, organisationId, error, req, parts);
      throw error;
    }
  };
}

async function asCaller(
  db: Database,
  organisationId: string,
  claims: TokenClaims,
  settings: JwtSettings,
): Promise<Caller> {
  const workspace =
    claims.workspace === undefined
      ? await findDefaultWorkspace(db, organisationId)
      : await findWorkspace(db, organisationId, claims.workspace);
  if (workspace === null) throw tokenNotAccepted('The workspace of the token does not exist.');
  const user = claims.user?.includes('@')
    ? await findUserByEmail(db, organisationId, claims.user.toLowerCase())
    : null;
  const scopes = claims.scopes ?? settings.default_scopes ?? [];
  return {
    keyId: subjectId(organisationId, claims.user),
    // A token may be used where a workspace's key may be, never like an organisation's.
    keyType: 'workspace-service',
    organisationId,
    workspaceId: workspace.id,
    userId: user?.id,
    role: undefined,
    scopes: new Set(scopes.filter((scope) => jwtScopes.has(scope))),
    // As with a service key: what a token may see, its issuer says by its scopes.
    seesOwnDataOnly: false,
    token: { subject: claims.user },
  };
}

function isRefusal({ status }: GatewayError): boolean {
  return status === 401 || status === 403;
}

/** Only of organisations that exist: there is no other log to write to. */
async function report(
  token: string,
  organisationId: string,
  error: GatewayError,
  req: Request,
  { db, refusals }: TokenCallerParts,
): Promise<void> {
  if ((await findAuthSettings(db, organisationId)) === null) return;
  const peeked = peekToken(token);
  refusals.add(organisationId, {
    token: maskToken(token),
    reason: error.message,
    status: error.status,
    subject: (peeked && userOf(peeked.payload)) ?? '',
    method: req.method,
    path: maskText(`${req.baseUrl}${req.path}`).slice(0, 2048),
    requestId: String(req.res?.locals.requestId ?? ''),
    clientIp: clientAddress(req),
  });
}
