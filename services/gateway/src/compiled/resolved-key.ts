import type { Counter } from '@sluice/engine';
import { config } from '@sluice/proto-stubs';
import { countersOf } from './read-bundle-limits.ts';

/** A caller's key made ready for requests. */
export interface ResolvedKey {
  readonly hashHex: string;
  readonly source: config.Key;
  readonly scopes: ReadonlySet<string>;
  /** Unix ms; 0 = never. */
  readonly expiresAtMs: number;
  readonly isWorkspaceKey: boolean;
  readonly counters: readonly Counter[];
  /** Of a JWT, all of them. */
  readonly tokenClaims?: Readonly<Record<string, unknown>> | undefined;
}

export function resolvedKey(hashHex: string, source: config.Key): ResolvedKey {
  return {
    hashHex,
    source,
    // `completions:write` and `completions.write` are the same scope.
    scopes: new Set(source.scopes.map((scope) => scope.replace(':', '.'))),
    expiresAtMs: Number(source.expiresAtMs),
    isWorkspaceKey:
      source.type === config.KeyType.WORKSPACE_SERVICE ||
      source.type === config.KeyType.WORKSPACE_USER,
    counters: countersOf(
      {
        kind: 'api_key',
        name: source.slug === '' ? source.name : source.slug,
        workspaceId: source.workspaceId,
      },
      `api_key:${source.id}`,
      source,
    ),
  };
}
