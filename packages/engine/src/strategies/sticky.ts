import { type ConfigNode, credentialKeys } from '@sluice/contracts';
import { hash32, hash64Hex } from '../hash.ts';
import type { RoutingFacts } from '../plan.ts';
import { promptPrefix, promptPrefixField } from '../prompt-prefix.ts';
import { parseRequestField } from '../request-fields.ts';

/** Where requests of one user go is remembered under a key, as the id of a child. */
export interface StickyRule {
  readonly ttlMs: number;
  /** By what a conversation begins with: the hash alone decides, for as long as it goes on. */
  readonly isByPrompt: boolean;
  /** Undefined = the request has none of the fields, and nothing is remembered. */
  readonly key: (facts: RoutingFacts) => string | undefined;
  /** By index. Stable when targets change places, weights or credentials. */
  readonly childIds: readonly string[];
  readonly childSeeds: readonly number[];
  readonly indexById: ReadonlyMap<string, number>;
}

const ttlDefaultS = 3600;

/** @throws GatewayError `config.invalid` for fields that cannot be read */
export function compileSticky(
  path: string,
  targets: readonly ConfigNode[],
  settings: NonNullable<ConfigNode['strategy']>['sticky'],
): StickyRule | undefined {
  if (settings?.enabled !== true) return undefined;
  const names = settings.hash_fields ?? [];
  const isByPrompt = names.includes(promptPrefixField);
  const fields = names.map((name, index) =>
    name === promptPrefixField
      ? { name, read: (facts: RoutingFacts) => promptPrefix(facts.params) }
      : parseRequestField(name, `${path}.strategy.sticky.hash_fields[${index}]`),
  );
  const childIds = identify(targets);
  return {
    ttlMs: (settings.ttl ?? ttlDefaultS) * 1000,
    isByPrompt,
    key(facts) {
      let text = `${facts.scope}\n${path}`;
      let isKnown = false;
      for (const { name, read } of fields) {
        const value = read(facts);
        // A request without a beginning is no part of a conversation, whoever sends it.
        if (value === undefined && name === promptPrefixField) return undefined;
        isKnown ||= value !== undefined;
        // As JSON, so that no value can look like two.
        text += `\n${name}=${value === undefined ? '' : JSON.stringify(value)}`;
      }
      return isKnown ? hash64Hex(text) : undefined;
    },
    childIds,
    childSeeds: childIds.map((id) => hash32(id, 0)),
    indexById: new Map(childIds.map((id, index) => [id, index])),
  };
}

/** A child's name, or a hash of its document; equal documents are counted through. */
function identify(targets: readonly ConfigNode[]): string[] {
  const seen = new Map<string, number>();
  return targets.map((target) => {
    if (target.name !== undefined) return `name:${target.name}`;
    const id = `hash:${hash64Hex(canonicalText(target, ignoredInIdentity))}`;
    const count = seen.get(id) ?? 0;
    seen.set(id, count + 1);
    return count === 0 ? id : `${id}:${count}`;
  });
}

/** Another weight or a new key does not make another target, and hashes of secrets are not kept. */
const ignoredInIdentity: ReadonlySet<string> = new Set([
  'weight',
  'vertex_service_account_json',
  ...credentialKeys.filter((key) => /key|secret|token/.test(key)),
]);

const noneIgnored: ReadonlySet<string> = new Set();

/** JSON with sorted keys. Documents are as deep as validation allows. */
function canonicalText(value: unknown, ignored: ReadonlySet<string>): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value))
    return `[${value.map((entry) => canonicalText(entry, ignored)).join()}]`;
  const entries = Object.entries(value)
    .filter(([key, inner]) => inner !== undefined && !ignored.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => {
      const isOurs = key === 'targets';
      return `${JSON.stringify(key)}:${canonicalText(inner, isOurs ? ignored : noneIgnored)}`;
    });
  return `{${entries.join()}}`;
}
