import type { IncomingHttpHeaders } from 'node:http';
import type { CheckContext } from '@sluice/guardrails';
import type { JsonObject } from '@sluice/providers';

/** What every run of hooks knows of the request. */
export interface HookSubject extends Omit<CheckContext, 'event' | 'response'> {
  readonly requestId: string;
  /** The body with the target's parameters merged in. Never changed in place. */
  readonly request: JsonObject;
  readonly provider: string;
  readonly headers: IncomingHttpHeaders;
  /** Unix ms when the run begins; results carry it as their time of creation. */
  readonly nowMs: number;
  /** Set when what is checked is large: whose turn each check waits for. */
  readonly largeOwner?: string;
}

/** What the hooks of one event are run on. */
export interface HookContext extends HookSubject, CheckContext {
  /** The upstream's status; 0 before the request. */
  readonly status: number;
}

export type HookEvent = CheckContext['event'];
