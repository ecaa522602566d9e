/**
 * What a document may cost, known before it is parsed. One unit of `work` is
 * 50 to 90 ns of parsing: a number or a literal counts 1, a text 3, an object or
 * a list 4 (memory more than time), and each member's name 11, since a name that
 * was never seen makes a new shape. `docs/decisions/0013-*` has the measurements.
 */
export interface JsonBounds {
  bytesMax: number;
  /** Levels of objects and lists within each other. */
  depthMax: number;
  workMax: number;
}

const mebibyte = 1024 * 1024;

/** Far above any real document's depth, far below what recursion survives. */
const depthMax = 200;

/** A full budget of work is about 50 ms of parsing, and 25 MB of objects. */
const workMax = 600_000;

export const jsonBounds = {
  /** A caller's body; its bytes are bounded where it is read. */
  request: { bytesMax: Number.POSITIVE_INFINITY, depthMax, workMax },
  /** A provider's reply, or what is kept of one; its bytes are bounded where it is read. */
  reply: { bytesMax: Number.POSITIVE_INFINITY, depthMax, workMax },
  /** What the service wrote itself: all that was said in many turns, and parsed once a turn. */
  kept: { bytesMax: Number.POSITIVE_INFINITY, depthMax, workMax: 10 * workMax },
  /** A document in a header or a setting: as much as the admin API takes in one. */
  small: { bytesMax: mebibyte, depthMax, workMax: 200_000 },
} as const satisfies Record<string, JsonBounds>;
