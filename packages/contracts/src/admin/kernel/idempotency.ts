/**
 * Creates that may be sent again: under a key that its caller chose, a request
 * is carried out once, and its first answer is answered again.
 */
export const idempotencyKeyHeader = 'idempotency-key';
/** `true` with an answer of before. */
export const replayedHeader = 'idempotent-replayed';
/** ASCII characters of a key. */
export const idempotencyKeyMax = 255;
