import * as oauth from 'oauth4webapi';
import { SignInFault } from '../registry/sign-in-fault.ts';
import type { Asker } from './asker.ts';
import { discoverAuthorization, type GivenMetadata, textOf } from './discover-authorization.ts';
import { readTokenAnswer, signInFault } from './token-answer.ts';
import { clientAuth, givenClient } from './upstream-client.ts';

export interface FreshToken {
  readonly token: string;
  readonly lastsMs: number;
}

/** Of a server that does not say. */
const lastsUnsaidMs = 600_000;
const lastsMaxMs = 24 * 3_600_000;

/** A token of the server's client itself (RFC 6749, 4.4). @throws SignInFault */
export async function askByClientCredentials(
  asker: Asker,
  given: GivenMetadata,
): Promise<FreshToken> {
  if (textOf(given.client_id) === undefined || textOf(given.client_secret) === undefined)
    throw needsClient();
  try {
    const { as, resource, scope } = await discoverAuthorization(asker, given);
    const own = givenClient(as, given);
    if (own === undefined) throw needsClient();
    const client = { client_id: own.id };
    const parameters = new URLSearchParams({
      ...(scope === undefined ? {} : { scope }),
      ...(given.send_resource === false ? {} : { resource }),
    });
    const response = await oauth.clientCredentialsGrantRequest(
      as,
      client,
      clientAuth(own),
      parameters,
      asker.options,
    );
    const { token, lastsMs = lastsUnsaidMs } = readTokenAnswer(
      await oauth.processClientCredentialsResponse(as, client, response),
    );
    return { token, lastsMs: Math.min(lastsMs, lastsMaxMs) };
  } catch (error) {
    throw signInFault(error);
  }
}

function needsClient(): SignInFault {
  return new SignInFault(
    'not_configured',
    'configurations.oauth_metadata needs client_id and client_secret.',
  );
}
