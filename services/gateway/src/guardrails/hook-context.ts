import type { CheckContext } from '@sluice/guardrails';
import type { JsonObject } from '@sluice/providers';
import type { HookRanResult } from './hook-results.ts';

/** What every run of hooks knows of the request. */
export interface HookSubject extends Omit<CheckContext, 'event' | 'response' | 'status' | 'ask'> {
  /** The body with the target's parameters merged in. Never changed in place. */
  readonly request: JsonObject;
  readonly traceId: string;
  /** On whose account hosts are asked. */
  readonly workspaceId: string;
  readonly organisationId: string;
  /** Why nothing in the body can be judged; undefined = it can. */
  readonly unreadable: string | undefined;
  /** When the run begins, as results carry it: ISO 8601, UTC, ms. */
  readonly createdAt: string;
  /** Hears of hooks that nobody waits for, when they have ended. */
  readonly onAsync?: (event: HookEvent, ended: EndedHook) => void;
  /** Set where only a part of an answer is there, of a stream that is held: how long its checks may take, ms. */
  readonly partWithinMs?: number;
  /** Set when what is checked is large: whose turn each check waits for. */
  readonly largeOwner?: string;
  /** Counts bytes that are held until the request is over; false = there is no room for them. Absent = nobody counts. */
  readonly holdBytes?: (bytes: number) => boolean;
}

/** How a hook that nobody waited for came out. */
export interface EndedHook {
  readonly hookId: string;
  readonly result: HookRanResult | undefined;
  /** Why there is no result: too many were under way, or this one took too long. */
  readonly lostTo: 'capacity' | 'deadline' | undefined;
}

/** What the hooks of one event are run on. */
export interface HookContext extends HookSubject, Omit<CheckContext, 'ask'> {}

export type HookEvent = CheckContext['event'];
