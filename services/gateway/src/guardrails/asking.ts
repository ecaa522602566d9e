import type { GuardedFetch } from '@sluice/outbound';

/** How a check may ask: in whose name, and until when. */
export interface Asking {
  readonly fetch: (...question: Parameters<GuardedFetch>) => ReturnType<GuardedFetch>;
  /** Whose word the addresses in its parameters are. */
  readonly by: 'admin' | 'caller';
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}
