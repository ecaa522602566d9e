import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { Requester } from '../exchange/requester.ts';
import type { AuthorisedRequest, CallAuthoriser, UnauthorisedRequest } from './call-authoriser.ts';

/** The request as it is sent: with the proof of who asks, where that is made for each call. */
export function authorised(
  call: UnsignedCall & Pick<PreparedCall, 'body'>,
  signal: AbortSignal,
  authoriser: CallAuthoriser,
): Promise<AuthorisedRequest> | AuthorisedRequest {
  if (!authoriser.isMadeForEachCall(call.auth)) return call;
  return authoriser.authorise(unauthorised(call, call.body, signal));
}

/** Whether it could be, as far as that is known without asking anybody. @throws GatewayError as the call would end */
export async function foreseeAuthorised(
  call: UnsignedCall,
  signal: AbortSignal,
  authoriser: CallAuthoriser,
): Promise<void> {
  if (authoriser.isMadeForEachCall(call.auth))
    await authoriser.foresee(unauthorised(call, null, signal));
}

type UnsignedCall = Pick<
  PreparedCall,
  'auth' | 'origin' | 'path' | 'method' | 'headers' | 'target' | 'requester'
>;

function unauthorised(
  { auth, origin, path, method, headers, target, requester }: UnsignedCall,
  body: UnauthorisedRequest['body'],
  signal: AbortSignal,
): UnauthorisedRequest {
  return {
    recipe: auth,
    apiKey: target.apiKey,
    setting: target.setting,
    savedSetting: target.savedSetting,
    metadata: metadataByRank(requester),
    owner: ownerOf(requester),
    origin,
    path,
    method,
    headers,
    body,
    signal,
  };
}

export function ownerOf({ key }: Requester): string {
  return key?.source.workspaceId ?? '';
}

/** As it wins: the workspace's, the key's, then what the request adds. */
function metadataByRank({ bundle, key, metadata }: Requester) {
  return [bundle?.source.metadata ?? {}, key?.source.metadata ?? {}, metadata];
}
