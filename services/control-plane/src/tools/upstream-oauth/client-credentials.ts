import { GatewayError } from '@sluice/errors';
import * as oauth from 'oauth4webapi';
import { SignInFault } from '../registry/sign-in-fault.ts';
import type { Asker } from './asker.ts';
import { discoverAuthorization, type GivenMetadata, textOf } from './discover-authorization.ts';

export interface FreshToken {
  readonly token: string;
  readonly lastsMs: number;
}

/** Of a server that does not say. */
const lastsUnsaid = 600;
const lastsMax = 24 * 3_600;

/** A token of the server's client itself (RFC 6749, 4.4). @throws SignInFault */
export async function askByClientCredentials(
  asker: Asker,
  given: GivenMetadata,
): Promise<FreshToken> {
  const id = textOf(given.client_id);
  const secret = textOf(given.client_secret);
  if (id === undefined || secret === undefined)
    throw new SignInFault(
      'not_configured',
      'configurations.oauth_metadata needs client_id and client_secret.',
    );
  try {
    const { as, resource, scope } = await discoverAuthorization(asker, given);
    const client = { client_id: id };
    const parameters = new URLSearchParams({
      ...(scope === undefined ? {} : { scope }),
      ...(given.send_resource === false ? {} : { resource }),
    });
    const response = await oauth.clientCredentialsGrantRequest(
      as,
      client,
      clientAuth(as, given, secret),
      parameters,
      asker.options,
    );
    return freshOf(await oauth.processClientCredentialsResponse(as, client, response));
  } catch (error) {
    throw signInFault(error);
  }
}

/** As the admin says, or in the first way that the server takes. */
function clientAuth(
  { token_endpoint_auth_methods_supported: taken }: oauth.AuthorizationServer,
  { token_endpoint_auth_method: said }: GivenMetadata,
  secret: string,
): oauth.ClientAuth {
  const methods = typeof said === 'string' ? [said] : (taken ?? ['client_secret_basic']);
  if (methods.includes('client_secret_basic')) return oauth.ClientSecretBasic(secret);
  if (methods.includes('client_secret_post')) return oauth.ClientSecretPost(secret);
  throw new SignInFault(
    'unsupported_auth_method',
    'The token endpoint takes neither client_secret_basic nor client_secret_post.',
  );
}

function freshOf({
  access_token: token,
  token_type: type,
  expires_in: lasts,
}: oauth.TokenEndpointResponse): FreshToken {
  if (type !== 'bearer' || !/^[\x21-\x7e]{1,12000}$/.test(token))
    throw new SignInFault(
      'invalid_token_response',
      'The token endpoint gave something that is no bearer token.',
    );
  return { token, lastsMs: Math.max(0, Math.min(lasts ?? lastsUnsaid, lastsMax)) * 1000 };
}

/** Error codes of OAuth are told; what else a server says may hold anything. */
function signInFault(error: unknown): unknown {
  if (error instanceof SignInFault) return error;
  if (
    error instanceof oauth.ResponseBodyError ||
    error instanceof oauth.WWWAuthenticateChallengeError
  ) {
    const said = error instanceof oauth.ResponseBodyError ? error.error : 'invalid_client';
    const code = /^[a-z_]{1,64}$/.test(said) ? said : 'invalid_token_response';
    return new SignInFault(code, `The token endpoint refused: ${code}.`, error);
  }
  if (
    error instanceof oauth.OperationProcessingError ||
    error instanceof oauth.UnsupportedOperationError
  )
    return new SignInFault(
      'invalid_token_response',
      'The token endpoint gave no usable answer.',
      error,
    );
  if (error instanceof GatewayError) return new SignInFault(error.code, error.message, error);
  return error;
}
