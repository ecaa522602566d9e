import type { PublicAddresses } from '@sluice/contracts';
import { type IdentityToken, signIdentityToken } from '@sluice/jwt';
import type { GuardedFetch, HostRules } from '@sluice/outbound';
import type { Logger } from '@sluice/telemetry';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import type { SignIns } from '../tools/upstream-oauth/sign-ins.ts';
import { sweepSignIns } from '../tools/upstream-oauth/sign-ins-store.ts';
import type { UserConnections } from '../tools/upstream-oauth/user-connections.ts';
import { AuthorizationServer } from './authorization-server.ts';
import { Grants } from './grants.ts';
import { InteractionPages } from './interaction.ts';
import { IssuerLogins } from './issuer-logins.ts';
import { OpenIdLogins } from './openid-logins.ts';
import type { OauthParts } from './routes.ts';
import { KeyRing } from './signing-keys.ts';
import { sweep } from './store.ts';
import { UpstreamPages } from './upstream-pages.ts';

export interface OauthSettings {
  client: DatabaseClient;
  vault: CredentialVault;
  fetch: GuardedFetch;
  hostRules: HostRules;
  /** The first is in use. */
  peppers: readonly Buffer[];
  masterKeys: readonly Buffer[];
  addresses: PublicAddresses;
  privateKey: string | undefined;
  keyDays: number;
  whenPassed: (barrier: string) => Promise<boolean>;
  signIns: SignIns;
  connections: UserConnections;
  logger: Logger;
  now: () => Date;
}

const dayMs = 24 * 3_600_000;

/** The authorisation server, put together; its routes, and what is to be done now and then. */
export function oauthPart(settings: OauthSettings): {
  routes: OauthParts;
  maintain: () => Promise<void>;
  /** Who calls, for one server: what gateways tell it. */
  signIdentity: (claimsJson: string, audience: string) => Promise<IdentityToken>;
  issuerLogins: IssuerLogins;
} {
  const { client, vault, fetch, peppers, masterKeys, addresses, logger, now, whenPassed } =
    settings;
  const [pepper] = peppers;
  const [masterKey] = masterKeys;
  if (pepper === undefined || masterKey === undefined) throw new Error('there is no key');
  const lastsMs = settings.keyDays * dayMs;
  const keys = new KeyRing({ client, vault, now, given: settings.privateKey, lastsMs });
  const grants = new Grants({ client, pepper, now, whenPassed });
  const { signIns, connections } = settings;
  const upstream = new UpstreamPages({ client, signIns, connections, peppers, masterKey, now });
  const server = new AuthorizationServer({
    client,
    vault,
    fetch,
    keys,
    grants,
    isSignInMissing: (serverId, person) => upstream.isSignInMissing(serverId, person),
    masterKeys,
    logger,
    now,
  });
  const openId = new OpenIdLogins({ client, vault, fetch, hostRules: settings.hostRules, now });
  const pages = new InteractionPages({ client, grants, upstream, openId, peppers, masterKey, now });
  return {
    routes: { client, server, pages, upstream, keys, addresses, now },
    issuerLogins: new IssuerLogins({ client, grants, pepper, now }),
    async signIdentity(claimsJson, audience) {
      const { jwk } = await keys.current();
      return signIdentityToken(claimsJson, audience, jwk, now().getTime());
    },
    async maintain() {
      await keys.rotate();
      await sweepSignIns(client, now());
      await sweep(client, now(), { unusedClientMs: dayMs, consentMs: 365 * dayMs });
    },
  };
}
