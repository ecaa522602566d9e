import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { JsonEdit } from '@sluice/json';
import { isObject } from '../envelope/read-message.ts';

/** What the gateway can carry between a caller and a server, by paths such as `resources.subscribe`. */
export type Relayable = (path: string) => boolean;

/** Of a server, that the specification knows; what they hold that is not named is kept. */
const serverFlags: Readonly<Record<string, readonly string[]>> = {
  tools: ['listChanged'],
  prompts: ['listChanged'],
  resources: ['listChanged', 'subscribe'],
  completions: [],
  logging: [],
  tasks: [],
};
const clientFlags: Readonly<Record<string, readonly string[]>> = {
  roots: ['listChanged'],
  sampling: ['context', 'tools'],
  elicitation: ['form', 'url'],
  tasks: [],
};
/** Of these, lists change by switches and grants here, whatever their server tells of. */
const listed: readonly string[] = ['tools', 'prompts', 'resources'];
/** What hosts and servers agree on among themselves goes through, each by its name. */
const open: readonly string[] = ['extensions', 'experimental'];

/**
 * What a caller is told that a server can: what it says of itself, what can be relayed, what policy leaves. A capability that
 * nobody knows is not advertised, since nobody could say that it is relayed.
 * @param isBlocked by policy, by the same paths; of extensions `extensions.<name>`
 */
export function serverCapabilities(
  upstream: JsonValue | undefined,
  relayable: Relayable,
  isBlocked: (path: string) => boolean = () => false,
): JsonObject {
  const kept = intersect(upstream, serverFlags, relayable, isBlocked);
  const announced = listed.flatMap((name): [string, JsonObject][] => {
    const own = kept[name];
    const path = `${name}.listChanged`;
    const isTold = isObject(own) && relayable(path) && !isBlocked(path);
    return isTold ? [[name, { ...own, listChanged: true }]] : [];
  });
  return { ...kept, ...Object.fromEntries(announced) };
}

/**
 * Takes what cannot be relayed out of a server's own words (`initialize`, `server/discover`), and adds that changes of
 * lists are told: what is there keeps its bytes.
 * @param edit of the answer whose result it is
 */
export function advertiseRelayed(edit: JsonEdit, { capabilities }: JsonObject): void {
  if (!isObject(capabilities)) return;
  for (const [name, value] of Object.entries(capabilities))
    if (!isObject(value) || !(Object.hasOwn(serverFlags, name) || open.includes(name)))
      edit.set(['result', 'capabilities', name], undefined);
    else if (listed.includes(name) && value.listChanged !== true)
      edit.set(['result', 'capabilities', name, 'listChanged'], 'true');
}

/** What a server is told that its client can. A capability that is not told is never asked for. */
export function clientCapabilities(
  client: JsonValue | undefined,
  relayable: Relayable,
  isBlocked: (path: string) => boolean = () => false,
): JsonObject {
  return intersect(client, clientFlags, relayable, isBlocked);
}

function intersect(
  declared: JsonValue | undefined,
  flags: Readonly<Record<string, readonly string[]>>,
  relayable: Relayable,
  isBlocked: (path: string) => boolean,
): JsonObject {
  if (!isObject(declared)) return {};
  const passes = (path: string) => relayable(path) && !isBlocked(path);
  const kept: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(declared)) {
    if (!isObject(value) || !passes(name)) continue;
    if (open.includes(name)) {
      const members = Object.entries(value).filter(([key]) => !isBlocked(`${name}.${key}`));
      if (members.length > 0) kept.push([name, Object.fromEntries(members) as JsonObject]);
    } else if (Object.hasOwn(flags, name)) {
      const known = flags[name] as readonly string[];
      const members = Object.entries(value).filter(
        ([key]) => !known.includes(key) || passes(`${name}.${key}`),
      );
      kept.push([name, Object.fromEntries(members) as JsonObject]);
    }
  }
  return Object.fromEntries(kept);
}
