import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { isObject } from '../../kernel/http/json-object.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import type { Asker } from './asker.ts';
import type { Calling } from './calling.ts';
import { type Authorization, type GivenMetadata, textOf } from './discover-authorization.ts';
import { signInFault } from './token-answer.ts';
import { deleteClient, findClient, insertClient } from './upstream-clients-store.ts';

const authMethods = ['none', 'client_secret_basic', 'client_secret_post'] as const;
export type AuthMethod = (typeof authMethods)[number];

/** What this installation is to an authorisation server. */
export interface UpstreamClient {
  readonly id: string;
  readonly secret?: string | undefined;
  readonly method: AuthMethod;
  /** It was registered: forgotten when the server does not know it any more. */
  readonly isRegistered: boolean;
}

/** How it proves who it is at the token endpoint. */
export function clientAuth({ secret, method }: UpstreamClient): oauth.ClientAuth {
  if (method === 'none' || secret === undefined) return oauth.None();
  return method === 'client_secret_basic' ? basicAuth(secret) : oauth.ClientSecretPost(secret);
}

/** As RFC 6749 §2.3.1 has it, with no more escaped than must be: many servers compare what is sent as it is. */
function basicAuth(secret: string): oauth.ClientAuth {
  const written = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  return (_as, { client_id: id }, _body, headers) => {
    const both = Buffer.from(`${written(id)}:${written(secret)}`).toString('base64');
    headers.set('authorization', `Basic ${both}`);
  };
}

/** The client that the admin gave; undefined = none. As the admin says, or in the first way that the server takes. @throws SignInFault */
export function givenClient(
  { token_endpoint_auth_methods_supported: taken }: oauth.AuthorizationServer,
  given: GivenMetadata,
): UpstreamClient | undefined {
  const id = textOf(given.client_id);
  if (id === undefined) return undefined;
  const secret = textOf(given.client_secret);
  if (secret === undefined) return { id, method: 'none', isRegistered: false };
  const said = textOf(given.token_endpoint_auth_method);
  const methods = said === undefined ? (taken ?? ['client_secret_basic']) : [said];
  const method = (['client_secret_basic', 'client_secret_post'] as const).find((each) =>
    methods.includes(each),
  );
  if (method === undefined)
    throw new SignInFault(
      'unsupported_auth_method',
      'The token endpoint takes neither client_secret_basic nor client_secret_post.',
    );
  return { id, secret, method, isRegistered: false };
}

/** How others find us. */
export interface OwnAddresses {
  /** Where answers of people's sign-ins come to. */
  readonly redirectUri: string;
  /** A document of ours that says what we are; undefined = nobody but this machine could read it. */
  readonly clientDocument: string | undefined;
}

/** What we say of ourselves, in our document and where we register. */
export function ownMetadata({ redirectUri }: Pick<OwnAddresses, 'redirectUri'>, given = {}) {
  const told = given as GivenMetadata;
  return {
    client_name: textOf(told.client_name) ?? 'Sluice',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // Of this machine alone answers are taken by http.
    application_type: redirectUri.startsWith('https:') ? 'web' : 'native',
    ...Object.fromEntries(
      toldOfClients.flatMap((name) => (told[name] == null ? [] : [[name, told[name]]])),
    ),
  };
}

/** Of `oauth_metadata`: goes into registrations as it is. */
const toldOfClients = [
  'client_uri',
  'logo_uri',
  'contacts',
  'tos_uri',
  'policy_uri',
  'software_id',
  'software_version',
];

const table = 'mcp_upstream_clients';

export interface UpstreamClientsParts {
  readonly client: DatabaseClient;
  readonly vault: CredentialVault;
  readonly now: () => Date;
}

/** Who we are at authorisation servers: given by the admin, by a document of ours, or registered, once for each issuer. */
export class UpstreamClients {
  readonly #parts: UpstreamClientsParts;

  constructor(parts: UpstreamClientsParts) {
    this.#parts = parts;
  }

  /** @throws SignInFault */
  async of(
    asker: Asker,
    calling: Calling,
    authorization: Authorization,
    own: OwnAddresses,
  ): Promise<UpstreamClient> {
    const { as } = authorization;
    const given = givenClient(as, calling.given);
    if (given !== undefined) return given;
    if (as.client_id_metadata_document_supported === true && own.clientDocument !== undefined)
      return { id: own.clientDocument, method: 'none', isRegistered: false };
    const { client, vault, now } = this.#parts;
    const name = nameOf(calling, as.issuer, own);
    const known = await findClient(client, calling.id, name);
    if (known !== undefined) {
      const kept = JSON.parse(vault.open(Buffer.from(known), addressOf(calling.id, name)));
      const { endsAtMs, ...registered } = kept as UpstreamClient & { endsAtMs?: number };
      if (endsAtMs === undefined || endsAtMs > now().getTime()) return registered;
      await deleteClient(client, calling.id, name);
    }
    const { endsAtMs, ...made } = await register(asker, authorization, calling.given, own);
    await insertClient(client, calling.id, name, {
      sealed: vault.seal(JSON.stringify({ ...made, endsAtMs }), addressOf(calling.id, name)),
      createdAt: now(),
    });
    return made;
  }

  /** The issuer does not know it any more: another one is registered with the next sign-in. */
  async forget(calling: Calling, issuer: string, own: Pick<OwnAddresses, 'redirectUri'>) {
    await deleteClient(this.#parts.client, calling.id, nameOf(calling, issuer, own));
  }
}

function nameOf(
  { fingerprint }: Calling,
  issuer: string,
  { redirectUri }: Pick<OwnAddresses, 'redirectUri'>,
): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([issuer, redirectUri, fingerprint.toString('hex')]))
    .digest();
}

function addressOf(integrationId: string, name: Buffer) {
  return { table, id: `${integrationId}/\\x${name.toString('hex')}` };
}

/** Some say 200 where RFC 7591 has them say 201, leave out when a secret ends, or write null for what there is not. */
async function asInRfc(response: Response): Promise<Response> {
  if (response.status !== 200 && response.status !== 201) return response;
  const text = await response.text();
  const body: unknown = await new Response(text).json().catch(() => undefined);
  if (!isObject(body)) return new Response(text, madeNow);
  const said = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  return new Response(JSON.stringify({ client_secret_expires_at: 0, ...said }), madeNow);
}

const madeNow = { status: 201, headers: { 'content-type': 'application/json' } };
const idPattern = /^[\x20-\x7e]{1,2048}$/;

async function register(
  asker: Asker,
  { as, scope }: Authorization,
  given: GivenMetadata,
  own: OwnAddresses,
): Promise<UpstreamClient & { endsAtMs?: number }> {
  if (as.registration_endpoint === undefined)
    throw new SignInFault(
      'no_client',
      'The authorisation server lets nobody register: configurations.oauth_metadata needs a client_id.',
    );
  const taken = as.token_endpoint_auth_methods_supported;
  const said = textOf(given.token_endpoint_auth_method);
  const wanted = said ?? authMethods.find((each) => taken?.includes(each)) ?? 'none';
  try {
    const response = await oauth.dynamicClientRegistrationRequest(
      as,
      {
        ...ownMetadata(own, given),
        token_endpoint_auth_method: wanted,
        ...(scope === undefined ? {} : { scope }),
      },
      asker.options,
    );
    const made = await oauth.processDynamicClientRegistrationResponse(await asInRfc(response));
    const { client_id: id, client_secret: secret, token_endpoint_auth_method: agreed } = made;
    const endsAt = made.client_secret_expires_at;
    // RFC 7591, 2: what is not said is client_secret_basic.
    const takesBasic = taken?.includes('client_secret_basic') !== false;
    const unsaid =
      wanted !== 'none' ? wanted : takesBasic ? 'client_secret_basic' : 'client_secret_post';
    const method = agreed ?? (typeof secret === 'string' ? unsaid : 'none');
    if (
      !idPattern.test(id) ||
      (typeof secret === 'string' && !idPattern.test(secret)) ||
      !isAuthMethod(method)
    )
      throw new SignInFault('invalid_client_metadata', 'The registration gave no usable client.');
    return {
      id,
      ...(typeof secret === 'string' && { secret }),
      method,
      isRegistered: true,
      ...(typeof endsAt === 'number' && endsAt > 0 && { endsAtMs: endsAt * 1000 }),
    };
  } catch (error) {
    throw signInFault(error);
  }
}

function isAuthMethod(method: unknown): method is AuthMethod {
  return authMethods.includes(method as AuthMethod);
}
