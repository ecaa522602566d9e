/** How one side of a session is closed, because of how the other was. */
export interface Closing {
  /** Undefined = a close that says nothing. */
  readonly code: number | undefined;
  readonly reason: string;
}

const saidNothing = 1005;
/** What a lost connection is reported as; it must not be sent. */
const lost: ReadonlySet<number> = new Set([1006, 1015]);
const failed = 1011;

/** @param code as `ws` reports it */
export function relayedClose(code: number, reason: Buffer): Closing {
  if (code === saidNothing) return { code: undefined, reason: '' };
  if (lost.has(code) || !maySend(code)) return { code: failed, reason: '' };
  return { code, reason: reason.toString() };
}

/** RFC 6455 §7.4: the others mean nothing, or are for what never travels. */
function maySend(code: number): boolean {
  return (code >= 1000 && code <= 1014 && code !== 1004) || (code >= 3000 && code <= 4999);
}
