import { setTimeout as sleep } from 'node:timers/promises';
import type { SectionItem } from './sections/section-source.ts';

/** Small enough that building, sending or reading one holds up nobody; a single item may be larger. */
const pieceBytesMax = 64 * 1024;
const progressEveryMs = 500;

export async function* inPieces(
  items: AsyncIterable<SectionItem> | Iterable<SectionItem>,
): AsyncGenerator<Uint8Array[]> {
  let piece: Uint8Array[] = [];
  let bytes = 0;
  for await (const { bytes: each } of items) {
    if (piece.length > 0 && bytes + each.length > pieceBytesMax) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(each);
    bytes += each.length;
  }
  if (piece.length > 0) yield piece;
}

/** Says that work goes on for as long as it does: a receiver takes a long silence for a hang. */
export async function* progress(
  work: Promise<unknown>,
  steps: () => number,
): AsyncGenerator<Record<string, never>> {
  const ended = work.then(
    () => true,
    () => true,
  );
  for (let told = 0; ; ) {
    const timer = new AbortController();
    const pause = sleep(progressEveryMs, false, { signal: timer.signal }).catch(() => false);
    const isOver = await Promise.race([ended, pause]);
    timer.abort();
    if (isOver) return;
    if (steps() === told) continue;
    told = steps();
    yield {};
  }
}
