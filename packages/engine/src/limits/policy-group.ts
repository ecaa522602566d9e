import type { RequestFacts, TargetFacts } from '../facts.ts';
import { hash64Hex } from '../hash.ts';
import { entityText } from './limit.ts';
import { candidatesOf } from './policy-facts.ts';

const groupCharsMax = 128;

/**
 * What tells the groups of a policy apart. A request without the value counts in
 * an explicit empty group, so that leaving a header out does not escape the
 * limit. Values are escaped: `:` and `,` cannot forge a group.
 */
export function groupKey(
  keys: readonly string[],
  request: RequestFacts,
  target: TargetFacts | undefined,
): string {
  return keys
    .map((key) => `${key}:${groupValue(candidatesOf(key, request, target)[0] ?? '')}`)
    .join(',');
}

/** Long values are told apart by their hash: a counter's name must not be as long as a header. */
function groupValue(value: string): string {
  // Half of a character pair has no escape of its own.
  const text = value.toWellFormed();
  return text.length <= groupCharsMax
    ? encodeURIComponent(text)
    : `${encodeURIComponent(text.slice(0, groupCharsMax / 2).toWellFormed())}~${hash64Hex(text)}`;
}

/** The same for people. */
export function groupEntity(
  keys: readonly string[],
  request: RequestFacts,
  target: TargetFacts | undefined,
  /** One counter of a policy for all workspaces is no workspace's. */
  isOfAll = false,
): string {
  if (keys.length === 0)
    return isOfAll
      ? entityText('organisation_id', 'of this key')
      : entityText('workspace', request.workspaceSlug);
  return keys
    .map((key) => {
      switch (key) {
        case 'api_key':
          return entityText(key, request.apiKeySlug);
        case 'workspace_id':
          return entityText(key, request.workspaceSlug);
        case 'organisation_id':
          return entityText(key, 'of this key');
        default:
          return entityText(
            key,
            (candidatesOf(key, request, target)[0] ?? '').slice(0, groupCharsMax),
          );
      }
    })
    .join(', ');
}
