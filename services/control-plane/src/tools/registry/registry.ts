import type { SealedAddresses } from '@sluice/a2a';
import type { ExternalAuthConfig } from '@sluice/contracts';
import { invalidField } from '@sluice/errors';
import { checkUpstreamUrl, type GuardedFetch, type HostRules } from '@sluice/outbound';
import type { McpIntegration } from '../../generated/prisma/client.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { isSecretName } from '../../kernel/credentials/mask.ts';
import { checkAddress } from '../../kernel/http/check-address.ts';
import type { RegistryKind } from './registry-kind.ts';
import type { KindTypes } from './tables.ts';

/** What servers know us by, where it has to be asked for. */
export interface SignInTokens {
  /** @throws SignInFault */
  tokenOf(
    integration: Pick<McpIntegration, 'id' | 'url' | 'authType' | 'sealedConfigurations'>,
  ): Promise<{ readonly token: string }>;
}

/** What servers know one user by. */
export interface UserSignIns {
  /** @returns revokes, at the server that gave it, what the user is about to lose */
  revocable(
    server: { readonly id: string; readonly integration: { readonly url: string } },
    userId: string,
  ): Promise<() => Promise<void>>;
  /** The same of everybody who signed in at servers that are about to go. */
  revocableOfAll(
    integration: { readonly id: string; readonly url: string },
    serverId?: string,
  ): Promise<() => Promise<void>>;
}

/** What both registries are built with. */
export interface RegistryParts {
  readonly vault: CredentialVault;
  /** Which hosts may be called. */
  readonly hostRules: HostRules;
  /** Calls them. */
  readonly fetch: GuardedFetch;
  /** Of integrations that sign in with client credentials. */
  readonly tokens: SignInTokens;
  /** Of integrations where each user signs in. */
  readonly connections: UserSignIns;
  /** The same as gateways have: what one of the two shows, the other opens. */
  readonly sealedAddresses: SealedAddresses;
}

/** One of the two, as the operations that both share see it. */
export interface Registry<K extends KindTypes> extends RegistryParts {
  readonly kind: RegistryKind<K>;
}

/** An issuer is asked for the keys by which people are known: nobody on the way may put in their own. @throws 400 */
export function requireUsableIssuer(
  { hostRules }: RegistryParts,
  configurations: Readonly<Record<string, unknown>> | null | undefined,
): void {
  const external = configurations?.external_auth_config as ExternalAuthConfig | null | undefined;
  for (const name of ['issuer', 'jwks_uri'] as const) {
    const address = external?.[name];
    if (address != null)
      checkAddress(address, `body.configurations.external_auth_config.${name}`, hostRules);
  }
}

/**
 * Checks the address of an integration. It is stored and shown in clear, so
 * that no credential may stand in it.
 * @throws 400
 */
export function requireUsableUrl(parts: RegistryParts, url: string): void {
  const { searchParams } = checkUpstreamUrl(url, parts.hostRules, 'body.url', 'admin').url;
  const secret = [...searchParams.keys()].find(isSecretName);
  if (secret !== undefined)
    throw invalidField(
      'body.url',
      `must not hold a credential (${secret}): it belongs into configurations.custom_headers`,
    );
}
