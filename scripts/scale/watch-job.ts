import type { MissedChanges } from './fill-database.ts';
import type { WatcherCounts } from './watcher.ts';

/** What a process of watchers is told to do; each job is answered once. */
export type WatchJob =
  /** Opens watchers, each with its part of the workspaces; answered when all have compared. */
  | { kind: 'open'; databaseUrl: string; address: string; token: string; watchers: WatcherPlan[] }
  /** Answered when all know what changed, with when the first and the last did (Unix ms). */
  | { kind: 'awaitFresh'; since: number; missed: MissedChanges; timeoutMs: number }
  /** What was counted since the counts were last forgotten. */
  | { kind: 'count'; workspaceId: string }
  | { kind: 'forgetCounts' };

export interface WatcherPlan {
  readonly number: number;
  readonly workspaceIds: readonly string[];
  readonly keysEach: number;
}

export interface Freshness {
  /** Of each watcher (Unix ms); missing = it was not in time. */
  readonly freshAt: readonly (number | null)[];
}

/** Of a watcher, and whether it holds the workspace that was asked about. */
export interface CountedWatcher extends WatcherCounts {
  readonly holds: boolean;
}
