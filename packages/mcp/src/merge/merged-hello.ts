import type { JsonObject, JsonValue } from '@sluice/contracts';
import { serverCapabilities } from '../capabilities/intersect.ts';
import { isObject } from '../envelope/read-message.ts';

/** What a member says of itself, in its answer to `initialize` or `server/discover`. */
export interface MemberHello {
  readonly member: string;
  readonly result: JsonObject;
}

const instructionsMax = 16_384;

/** What a merged server can: whatever one of its members can and can be relayed. Logs and changes it tells of itself as well. */
export function mergedCapabilities(
  members: readonly MemberHello[],
  isRelayed: (path: string) => boolean = () => true,
): JsonObject {
  let all: JsonObject = {};
  for (const { result } of members)
    all = union(all, serverCapabilities(result.capabilities, isRelayed));
  return { ...all, logging: {} };
}

/** Each member's under its name, as much of it as has room; of an only member its own. Undefined = none says anything. */
export function mergedInstructions(members: readonly MemberHello[]): string | undefined {
  const said = members.flatMap(({ member, result: { instructions } }) =>
    typeof instructions === 'string' && instructions.trim() !== ''
      ? [{ member, instructions }]
      : [],
  );
  if (said.length === 0) return undefined;
  const share = Math.floor(instructionsMax / said.length);
  const cut = (text: string) =>
    text.length <= share ? text : `${text.slice(0, share).toWellFormed()}…`;
  if (members.length === 1) return cut(said[0]?.instructions as string);
  return said
    .map(({ member, instructions }) => `## ${member}\n\n${cut(instructions)}`)
    .join('\n\n');
}

/** What either has; of two values the first, unless both are objects, or the other is `true`. */
function union(a: JsonObject, b: JsonObject): JsonObject {
  const all: Record<string, JsonValue> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const known = Object.hasOwn(a, name) ? a[name] : undefined;
    if (isObject(known) && isObject(value)) all[name] = union(known, value);
    else if (known === undefined || value === true) all[name] = value;
  }
  return all;
}
