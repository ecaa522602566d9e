import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import type { ChangeNotice } from '../kernel/database/change.ts';

export type FollowResponse = MessageInitShape<typeof config.FollowResponseSchema>;

/** A change as gateways are told of it. */
export function asResponse(notice: ChangeNotice) {
  if ('key' in notice)
    return {
      event: { case: 'keyChanged', value: { keyId: notice.key, mark: notice.mark ?? '' } },
    } as const;
  if ('organisation' in notice)
    return {
      event: { case: 'organisationChanged', value: { organisationId: notice.organisation } },
    } as const;
  return {
    event: {
      case: 'workspaceChanged',
      value: { workspaceId: notice.workspace, revision: BigInt(notice.revision) },
    },
  } as const;
}
