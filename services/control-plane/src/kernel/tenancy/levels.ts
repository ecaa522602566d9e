import type { AdminRequest } from '../http/operation.ts';

/** Of what was asked for, the levels whose scope the caller holds; they were let in with one of the two. */
export function visibleLevel(call: AdminRequest, asked: 'workspace' | 'organisation' | 'all') {
  const organisation = call.permits('organisation');
  const workspace = call.permits('workspace');
  if (asked === 'all' && organisation !== workspace)
    return organisation ? 'organisation' : 'workspace';
  if (asked !== 'all') call.permit(asked);
  return asked;
}
