import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint, JsonObject } from '@sluice/providers';

/** What every run of hooks knows of the request. */
export interface HookSubject {
  readonly requestId: string;
  readonly endpoint: Endpoint;
  /** The body with the target's parameters merged in. Never changed in place. */
  readonly request: JsonObject;
  readonly provider: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** Unix ms when the run begins; results carry it as their time of creation. */
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Set when what is checked is large: whose turn each check waits for. */
  readonly largeOwner?: string;
}

/** What a check sees. */
export interface HookContext extends HookSubject {
  readonly event: HookEvent;
  /** In the caller's format. Undefined before the request. */
  readonly response: JsonObject | undefined;
  /** The upstream's status; 0 before the request. */
  readonly status: number;
}

export type HookEvent = 'beforeRequest' | 'afterRequest';
