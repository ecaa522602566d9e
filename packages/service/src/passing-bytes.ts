import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bodies that flow through leave their buffers behind, outside V8's heap, and
 * V8 lets 64 MB of them pile up before it collects by itself. A small
 * collection now and then, a millisecond each, keeps a service that passes
 * gigabytes as small as it was.
 */
const collectAfterBytes = 16 * 1024 * 1024;

type Collect = (options: { type: 'minor' }) => void;

/** V8 gives its collector only to contexts made while the flag is set. */
function findCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

const collect = findCollector();
let passedBytes = 0;

/** Notes bytes of a body that was not made by us and will not be kept. */
export function notePassingBytes(length: number): void {
  passedBytes += length;
  if (passedBytes < collectAfterBytes) return;
  passedBytes = 0;
  collect({ type: 'minor' });
}
