/**
 * An id for a call that its provider gave none: callers of other formats send
 * the result back by it, and two turns must not share one.
 */
export function madeUpCallId(replyId: string | undefined, call: number): string {
  return `call_${replyId ?? 'x'}_${call}`;
}
