import { hash } from 'node:crypto';
import { saysWhoCalls, type toldClaims, userIdentityForwarding } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { isTokenShaped, TokenCache } from '@sluice/jwt';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigSource } from '../held/config-source.ts';

/** How a server or an agent learns who calls: `user_identity_forwarding`, made ready. */
export interface IdentityPlan {
  readonly method: 'claims_header' | 'jwt_header' | 'bearer';
  /** In lower case. */
  readonly header: string;
  /** Undefined = all there are. */
  readonly include: readonly string[] | undefined;
  /** A setting that cannot be kept to: the server is not called. */
  readonly unkept: string | undefined;
}

const defaultHeaders = {
  claims_header: 'x-user-claims',
  jwt_header: 'x-user-jwt',
  bearer: 'authorization',
} as const;

/** Undefined = it is not told. */
export function identityPlan(settings: unknown): IdentityPlan | undefined {
  if (settings == null) return undefined;
  const read = userIdentityForwarding.safeParse(settings);
  // An unreadable setting must not become a silent one.
  if (!read.success)
    return {
      method: 'claims_header',
      header: defaultHeaders.claims_header,
      include: undefined,
      unkept: `user_identity_forwarding${methodIn(settings)}`,
    };
  const { method, header_name: name, include_claims: include } = read.data;
  const header = name?.toLowerCase() ?? defaultHeaders[method];
  return {
    method,
    header,
    include: include ?? undefined,
    unkept: !saysWhoCalls(header)
      ? `user_identity_forwarding in the header ${header}`
      : method === 'bearer' && read.data.forward_gateway_token !== true
        ? 'user_identity_forwarding by bearer without forward_gateway_token'
        : undefined,
  };
}

function methodIn(settings: unknown): string {
  const { method } = settings as { method?: unknown };
  return typeof method === 'string' ? ` by ${method.slice(0, 40)}` : '';
}

/** What may be told of who calls. */
export function claimsOfCaller(
  { source }: ResolvedKey,
  bundle: CompiledBundle,
  login?: { readonly scope: string; readonly clientId: string },
): Record<(typeof toldClaims)[number], string> {
  return {
    sub: source.userId === '' ? source.id : source.userId,
    username: source.name,
    user_id: source.userId,
    workspace_id: source.workspaceId,
    workspace_slug: bundle.source.workspaceSlug,
    organisation_id: source.organisationId,
    scope: login?.scope ?? source.scopes.join(' '),
    client_id: login?.clientId ?? '',
  };
}

export interface CallerToTell {
  readonly claims: Readonly<Record<string, string>>;
  /** The server's address, as it is registered. */
  readonly audience: string;
  /** That the server asked for, and the gateway checked. */
  readonly userToken: string | undefined;
  /** With which the caller came to the gateway. */
  readonly credential: string | undefined;
}

export interface IdentitiesOptions {
  readonly sign: ConfigSource['signIdentity'];
  readonly now?: () => number;
  readonly tokensMax?: number;
}

/** Before its end, in which a token is no longer begun with. */
const marginMs = 30_000;

/** Tells servers and agents who calls. Signed statements are the control plane's, asked for once and kept until shortly before their end. */
export class Identities {
  readonly #options: Required<Omit<IdentitiesOptions, 'tokensMax'>>;
  readonly #tokens: TokenCache<{ validUntilMs: number; token: string }>;

  constructor({ sign, now = Date.now, tokensMax }: IdentitiesOptions) {
    this.#options = { sign, now };
    this.#tokens = new TokenCache(tokensMax);
  }

  get size(): number {
    return this.#tokens.size;
  }

  /**
   * The header of one call.
   * @throws GatewayError 503 `auth.unavailable` when nothing signed can be had; 403 `auth.token_not_accepted` when there is no token to pass on
   */
  headers(
    plan: IdentityPlan | undefined,
    caller: CallerToTell,
  ): Record<string, string> | Promise<Record<string, string>> {
    if (plan === undefined) return {};
    const { method, header, include } = plan;
    if (method === 'bearer')
      return { [header]: `Bearer ${caller.userToken ?? tokenOf(caller.credential)}` };
    const told = Object.entries(caller.claims).filter(
      ([name, value]) => value !== '' && include?.includes(name) !== false,
    );
    const claims = asciiJson(Object.fromEntries(told));
    if (method === 'claims_header') return { [header]: claims };
    const name = { identity: hash('sha256', JSON.stringify([caller.audience, claims])), proof: '' };
    const { now } = this.#options;
    const held = this.#tokens.get(name, now());
    if (held !== undefined) return { [header]: held.token };
    return this.#tokens
      .load(name, () => this.#sign(caller.audience, claims))
      .then(({ token }) => ({ [header]: token }));
  }

  async #sign(audience: string, claimsJson: string) {
    const unavailable = (cause?: unknown) =>
      new GatewayError('auth.unavailable', {
        message: 'The control plane cannot be asked to sign who calls.',
        headers: { 'retry-after': '1' },
        cause,
      });
    const { token, expiresAtMs } = await this.#options
      .sign({ audience, claimsJson })
      .catch((error: unknown) => {
        throw unavailable(error);
      });
    // Whatever came back: unsigned is never sent.
    if (!isTokenShaped(token) || token.endsWith('.')) throw unavailable();
    return { token, validUntilMs: Number(expiresAtMs) - marginMs };
  }
}

/** A key of the gateway is nobody else's to see, whatever an administrator says. */
function tokenOf(credential: string | undefined): string {
  if (credential !== undefined && isTokenShaped(credential)) return credential;
  throw new GatewayError('auth.token_not_accepted', {
    message:
      'This server is shown the caller’s own token, and there is none: a key is not passed on.',
  });
}

/** Header values are ASCII: JSON says all else by escapes. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
