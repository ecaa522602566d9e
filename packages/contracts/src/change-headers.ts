/** On the answer of a change: what of gateways' state it changed. */
export const changedHeader = 'x-service-changed';

/**
 * On the same answer: `everywhere` when every gateway acts on the change,
 * `here` when this one does and others may not yet, `pending` when not even that
 * was known in time.
 */
export const inForceHeader = 'x-service-in-force';

/** `true` on the answer of a change after which everything is as it was: it left no version, and no audit entry. */
export const unchangedHeader = 'x-service-unchanged';

export type InForce = 'everywhere' | 'here' | 'pending';

/** Something that gateways hold, and that is different now. */
export type Changed =
  | { key: string }
  | { workspace: string; revision: string }
  | { organisation: string };

/** More are not named: a change of a whole organisation may have touched thousands. */
const namedMax = 20;

/** `workspace=<id>@<revision>, key=<id>, organisation=<id>`. */
export function writeChanged(changes: readonly Changed[]): string {
  const named = changes.slice(0, namedMax).map((change) => {
    if ('key' in change) return `key=${change.key}`;
    if ('organisation' in change) return `organisation=${change.organisation}`;
    return `workspace=${change.workspace}@${change.revision}`;
  });
  return [...named, ...(changes.length > namedMax ? ['...'] : [])].join(', ');
}

/** What is not of this form says nothing. */
export function readChanged(text: string): Changed[] {
  return text.split(', ').flatMap((each): Changed[] => {
    const [, kind, id = '', revision] =
      /^(workspace|key|organisation)=([0-9a-f-]{36})(?:@(\d{1,19}))?$/.exec(each) ?? [];
    if (kind === 'key') return [{ key: id }];
    if (kind === 'organisation') return [{ organisation: id }];
    return kind === 'workspace' && revision !== undefined ? [{ workspace: id, revision }] : [];
  });
}
