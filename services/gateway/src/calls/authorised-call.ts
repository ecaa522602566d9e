import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { Requester } from '../exchange/requester.ts';
import type { AuthorisedRequest, CallAuthoriser } from './call-authoriser.ts';

/** The request as it is sent: with the proof of who asks, where that is made for each call. */
export function authorised(
  call: Pick<
    PreparedCall,
    'auth' | 'origin' | 'path' | 'method' | 'headers' | 'body' | 'target' | 'requester'
  >,
  signal: AbortSignal,
  authoriser: CallAuthoriser,
): Promise<AuthorisedRequest> | AuthorisedRequest {
  const { auth, origin, path, method, headers, body, target, requester } = call;
  if (!authoriser.isMadeForEachCall(auth)) return call;
  return authoriser.authorise({
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
  });
}

export function ownerOf({ key }: Requester): string {
  return key?.source.workspaceId ?? '';
}

/** As it wins: the workspace's, the key's, then what the request adds. */
function metadataByRank({ bundle, key, metadata }: Requester) {
  return [bundle?.source.metadata ?? {}, key?.source.metadata ?? {}, metadata];
}
