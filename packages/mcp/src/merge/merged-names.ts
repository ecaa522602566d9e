import { hash } from 'node:crypto';

/** What model providers take as the name of a tool. */
export const callableName = /^[a-zA-Z0-9_-]{1,64}$/;
const lengthMax = 64;

export type PrefixRule = 'always' | 'on_collision' | 'never';

/** One tool or prompt of a member, by the name that the member shows to its own callers. */
export interface MemberName {
  /** Slug of the member. */
  readonly member: string;
  readonly name: string;
}

export interface MergedNames {
  /** What callers of the merged server call it; undefined = it cannot be had, since another has its name. */
  exposed(entry: MemberName): string | undefined;
  /** Whose it is; undefined = there is none of that name. */
  owner(exposed: string): MemberName | undefined;
}

/**
 * Names for what several servers have: each within what model providers take, no two alike, and the same whatever the order
 * in which members answered.
 *
 * `always` and `on_collision` put the member's slug and `_` before the name, the latter where two members have it. What is too
 * long, or would be the name of two, ends with a digest of member and name, all of them: else a server could take over the name of
 * another's tool with one of its own (`a` with `b_c` that of `a_b` with `c`). With `never` the first member keeps a name that several
 * have, and the others' cannot be had.
 * @param members slugs in their order
 * @param entries of one type, of all members, whether they answer just now or not
 */
export function mergeNames(
  members: readonly string[],
  entries: readonly MemberName[],
  rule: PrefixRule,
): MergedNames {
  const order = new Map(members.map((member, index) => [member, index]));
  const known = unique(entries.filter(({ member }) => order.has(member)));
  const holders = groupBy(known, ({ name }) => plainName(name));
  const wantedBy = ({ member, name }: MemberName) => {
    const plain = plainName(name);
    const isShared = !isOfOne(holders.get(plain) as MemberName[]);
    const isPrefixed = rule === 'always' || (rule === 'on_collision' && isShared);
    return isPrefixed ? `${plainName(member)}_${plain}` : plain;
  };
  const owners = new Map<string, MemberName>();
  const exposed = new Map<string, string>();
  for (const [wanted, wanting] of groupBy(known, wantedBy)) {
    const keeps = keeperOf(wanted, wanting, rule, order);
    for (const entry of wanting) {
      const isLost =
        rule === 'never' && keeps !== undefined && keeps !== entry && entry.name === keeps.name;
      if (isLost) continue;
      const name = entry === keeps ? wanted : withDigest(wanted, entry);
      owners.set(name, entry);
      exposed.set(keyOf(entry), name);
    }
  }
  return {
    exposed: (entry) => exposed.get(keyOf(entry)),
    owner: (name) => owners.get(name),
  };
}

/** Which of those that want a name has it. */
function keeperOf(
  wanted: string,
  wanting: readonly MemberName[],
  rule: PrefixRule,
  order: ReadonlyMap<string, number>,
): MemberName | undefined {
  // A name that ends like a digest could be the one that another gets.
  if (!callableName.test(wanted) || digestEnd.test(wanted)) return undefined;
  const [first] = wanting;
  if (wanting.length === 1) return first;
  const same = wanting.filter(({ name }) => plainName(name) === name);
  // Of one member: whose own name it is, in whatever order they came.
  if (isOfOne(wanting)) return same.find(({ name }) => name === wanted) ?? firstByName(same);
  if (rule !== 'never') return undefined;
  return same.toSorted(
    (a, b) => (order.get(a.member) as number) - (order.get(b.member) as number),
  )[0];
}

function firstByName(entries: readonly MemberName[]): MemberName | undefined {
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))[0];
}

function isOfOne(entries: readonly MemberName[]): boolean {
  return entries.every(({ member }) => member === entries[0]?.member);
}

function unique(entries: readonly MemberName[]): MemberName[] {
  return [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()];
}

function groupBy(
  entries: readonly MemberName[],
  keyBy: (entry: MemberName) => string,
): Map<string, MemberName[]> {
  const groups = new Map<string, MemberName[]>();
  for (const entry of entries) {
    const key = keyBy(entry);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return groups;
}

const digestLength = 15;
const digestEnd = /_[0-9a-f]{15}$/;

/** 60 bits of a digest: nobody finds two names with one. */
function withDigest(wanted: string, entry: MemberName): string {
  const digest = hash('sha256', keyOf(entry), 'hex').slice(0, digestLength);
  return `${wanted.slice(0, lengthMax - digestLength - 1)}_${digest}`;
}

/** Without what model providers do not take. */
function plainName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_');
}

function keyOf({ member, name }: MemberName): string {
  return JSON.stringify([member, name]);
}
