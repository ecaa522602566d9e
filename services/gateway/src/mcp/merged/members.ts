import type { SentToolPolicy, ToolAccess } from '@sluice/contracts';
import { type CapabilityType, compileGlob, type MemberName, type PrefixRule } from '@sluice/mcp';
import type { CompiledBundle } from '../../compiled/compiled-bundle.ts';
import type { CompiledMcpServer } from '../../compiled/mcp-servers.ts';

/** A server within a merged one: by its own rules, and those of the merged one beside. */
export interface Member {
  readonly slug: string;
  readonly server: CompiledMcpServer;
  /** The same where others wait for it, who have other members. */
  readonly hurried: CompiledMcpServer;
  /** Names of tools and prompts that it is known to have. */
  readonly known: Readonly<Record<'tool' | 'prompt', readonly MemberName[]>>;
}

export const prefixRules: readonly string[] = ['always', 'on_collision', 'never'];

/** A word that this release does not know is taken for what gives no name twice. */
export function prefixOf({ source }: CompiledMcpServer): PrefixRule {
  return prefixRules.includes(source.prefix) ? (source.prefix as PrefixRule) : 'always';
}

interface Made {
  readonly of: readonly CompiledMcpServer[];
  readonly members: readonly Member[];
}

/** The members of merged servers as bundles have them: made ready once for each state. */
export class Members {
  readonly #made = new WeakMap<CompiledMcpServer, Made>();
  readonly #hurryMs: number;

  /** @param hurryMs of a call whose caller waits for other members too */
  constructor(hurryMs: number) {
    this.#hurryMs = hurryMs;
  }

  /** In the order of the merged server; those that are not there, or merged themselves, are none. */
  of(bundle: Pick<CompiledBundle, 'mcpServer'>, merged: CompiledMcpServer): readonly Member[] {
    const found = merged.source.members.flatMap(({ serverId, tools }) => {
      const server = bundle.mcpServer(serverId);
      return server === undefined || server.isMerged ? [] : [{ server, tools }];
    });
    const known = this.#made.get(merged);
    if (
      known?.of.length === found.length &&
      found.every(({ server }, at) => server === known.of[at])
    )
      return known.members;
    const members = found.map(({ server, tools }) => this.#member(merged, server, tools));
    this.#made.set(merged, { of: found.map(({ server }) => server), members });
    return members;
  }

  #member(merged: CompiledMcpServer, member: CompiledMcpServer, tools: readonly string[]): Member {
    const server = { ...member, policy: joinedPolicy(member.policy, merged.policy, tools) };
    const { request_timeout: timeout, request_timeout_max: whole } = server.policy;
    const hurry = {
      request_timeout: Math.min(timeout ?? this.#hurryMs, this.#hurryMs),
      request_timeout_max: Math.min(whole ?? this.#hurryMs, this.#hurryMs),
    };
    const { slug } = member.source;
    return {
      slug,
      server,
      hurried: { ...server, policy: { ...server.policy, ...hurry } },
      known: {
        tool: namesOf(member, 'tool', tools),
        prompt: namesOf(member, 'prompt', []),
      },
    };
  }
}

/** Of what decides about lists of a merged server: another text, another list. */
export function stateOf(
  bundle: Pick<CompiledBundle, 'mcpServer'>,
  { source, version }: CompiledMcpServer,
): string {
  const members = source.members.map(({ serverId }) => bundle.mcpServer(serverId)?.version ?? '');
  return [version, ...members].join(' ');
}

function namesOf(
  { capabilities, source }: CompiledMcpServer,
  type: CapabilityType,
  selected: readonly string[],
): MemberName[] {
  const globs = selected.map(compileGlob);
  return [...capabilities.values()].flatMap(({ source: row }) =>
    row.type !== type || (globs.length > 0 && !globs.some((glob) => glob(row.name)))
      ? []
      : [{ member: source.slug, name: row.renamedTo === '' ? row.name : row.renamedTo }],
  );
}

const bounds = ['request_timeout', 'request_timeout_max', 'max_result_bytes'] as const;
const checked = ['input_guardrails', 'output_guardrails'] as const;

/**
 * Of both the lower bound and all guardrails; what the merged server says of denials goes before. Its `access` is about
 * names as its own callers know them, and is asked before a member is.
 */
function joinedPolicy(
  member: SentToolPolicy,
  merged: SentToolPolicy,
  tools: readonly string[],
): SentToolPolicy {
  const { denied_as, guardrail_denied_as } = merged;
  return {
    ...member,
    ...(denied_as === undefined ? {} : { denied_as }),
    ...(guardrail_denied_as === undefined ? {} : { guardrail_denied_as }),
    ...Object.fromEntries(
      bounds.flatMap((name) => {
        const set = [member[name], merged[name]].filter((each) => each !== undefined);
        return set.length === 0 ? [] : [[name, Math.min(...set)]];
      }),
    ),
    ...Object.fromEntries(
      checked.flatMap((name) => {
        const all = new Set([...(member[name] ?? []), ...(merged[name] ?? [])]);
        return all.size === 0 ? [] : [[name, [...all]]];
      }),
    ),
    ...(tools.length === 0 ? {} : { access: [...(member.access ?? []), selection(tools)] }),
  };
}

/** Of tools these alone; what else a server has is not selected. */
function selection(tools: readonly string[]): ToolAccess {
  const others = ['prompt', 'resource', 'resource_template'] as const;
  return {
    allow: [
      ...tools.map((name) => ({ type: 'tool' as const, name })),
      ...others.map((type) => ({ type, name: '*' })),
    ],
  };
}
