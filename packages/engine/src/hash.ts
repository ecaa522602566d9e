/**
 * MurmurHash3 (x86, 32 bit) over UTF-16 code units, two to a block, low one
 * first; the length is counted in bytes. Fast and well spread, not secret:
 * never use it where somebody gains by a collision.
 */
export function hash32(text: string, seed: number): number {
  let hash = seed | 0;
  const { length } = text;
  let index = 0;
  for (; index + 1 < length; index += 2) {
    hash ^= scramble(text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  if (index < length) hash ^= scramble(text.charCodeAt(index));
  return finish(hash ^ (length * 2));
}

/** Two differently seeded halves, as 16 hex digits. */
export function hash64Hex(text: string): string {
  return hex8(hash32(text, 0)) + hex8(hash32(text, 0x9747b28c));
}

/** One hash out of two, well spread even when the inputs differ in one bit. */
export function mixHashes(a: number, b: number): number {
  return finish(finish(a ^ 0x9e3779b9) ^ Math.imul(b, 0x85ebca6b));
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

function finish(input: number): number {
  let hash = input;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 0;
}

function hex8(value: number): string {
  return value.toString(16).padStart(8, '0');
}
