import { type MemberName, type MergedNames, mergeNames } from '@sluice/mcp';
import { RecentMap } from '../../chain/recent-map.ts';
import type { CompiledMcpServer } from '../../compiled/mcp-servers.ts';
import type { McpCall } from '../mcp-call.ts';
import { type Member, prefixOf } from './members.ts';

/** What of a merged server is known by names. */
export type NamedType = 'tool' | 'prompt';

type Asking = Pick<McpCall, 'server' | 'principal' | 'key'>;

interface Seen {
  /** What was listed and is not known of the members otherwise. */
  readonly entries: readonly MemberName[];
  readonly at: number;
}

const ownersMax = 2_000;
const namesMax = 10_000;
/** What was listed for a caller says for so long which of its names are whose. */
const seenMs = 60_000;
/** A name that nobody has is not looked for again within this time. */
const againMs = 5_000;

/**
 * The names of what a merged server has. They are made of what members are known to have, whether a caller may use it or
 * not, and of what was listed: so they are the same for all callers, at every gateway, and while a member is down.
 */
export class Naming {
  readonly #known = new WeakMap<
    CompiledMcpServer,
    Map<NamedType, { of: readonly Member[]; names: MergedNames }>
  >();
  readonly #seen = new RecentMap<Seen>(ownersMax);
  /** When it was listed last, whatever came of it. */
  readonly #looked = new RecentMap<number>(ownersMax);
  readonly #merged = new WeakMap<Seen, { of: readonly Member[]; names: MergedNames }>();

  /** @param listed what each member that answered lists; others count by what is known of them */
  listed(
    call: Asking,
    members: readonly Member[],
    type: NamedType,
    listed: ReadonlyMap<string, readonly string[]>,
  ): MergedNames {
    const isFirst = prefixOf(call.server) === 'never';
    const entries = members.flatMap(({ slug, known }) => {
      const own = listed.get(slug)?.map((name) => ({ member: slug, name }));
      // Whoever is first has a name while it has it, and no longer.
      if (isFirst) return own ?? known[type];
      const has = new Set(known[type].map(({ name }) => name));
      return own?.filter(({ name }) => !has.has(name)) ?? [];
    });
    const key = keyOf(call, type);
    this.#looked.set(key, performance.now());
    if (entries.length === 0 && !isFirst) {
      this.#seen.delete(key);
      return this.#ofKnown(call.server, members, type);
    }
    const seen = { entries: entries.slice(0, namesMax), at: performance.now() };
    this.#seen.set(key, seen);
    return this.#ofSeen(call.server, members, type, seen);
  }

  /** Whose a name is, without asking anybody; undefined = it must be looked for. */
  owner(
    call: Asking,
    members: readonly Member[],
    type: NamedType,
    name: string,
  ): MemberName | undefined {
    const seen = this.#seen.use(keyOf(call, type));
    const isFirst = prefixOf(call.server) === 'never';
    if (isFirst && (seen === undefined || performance.now() - seen.at > seenMs)) return undefined;
    const names =
      seen === undefined
        ? this.#ofKnown(call.server, members, type)
        : this.#ofSeen(call.server, members, type, seen);
    return names.owner(name);
  }

  /** Whether it was listed just now: what is not there then is nowhere. */
  isFresh(call: Asking, type: NamedType): boolean {
    const at = this.#looked.use(keyOf(call, type));
    return at !== undefined && performance.now() - at < againMs;
  }

  #ofKnown(merged: CompiledMcpServer, members: readonly Member[], type: NamedType): MergedNames {
    let kept = this.#known.get(merged);
    if (kept === undefined) {
      kept = new Map();
      this.#known.set(merged, kept);
    }
    const made = kept.get(type);
    if (made?.of === members) return made.names;
    const names = namesOf(
      merged,
      members,
      members.flatMap(({ known }) => known[type]),
    );
    kept.set(type, { of: members, names });
    return names;
  }

  #ofSeen(
    merged: CompiledMcpServer,
    members: readonly Member[],
    type: NamedType,
    seen: Seen,
  ): MergedNames {
    const made = this.#merged.get(seen);
    if (made?.of === members) return made.names;
    const known = prefixOf(merged) === 'never' ? [] : members.flatMap((each) => each.known[type]);
    const names = namesOf(merged, members, [...known, ...seen.entries]);
    this.#merged.set(seen, { of: members, names });
    return names;
  }
}

function namesOf(
  merged: CompiledMcpServer,
  members: readonly Member[],
  entries: readonly MemberName[],
): MergedNames {
  const slugs = members.map(({ slug }) => slug);
  return mergeNames(slugs, entries.slice(0, namesMax), prefixOf(merged));
}

function keyOf({ server, principal, key }: Asking, type: NamedType): string {
  return `${server.source.id} ${principal} ${key.source.id} ${type}`;
}
