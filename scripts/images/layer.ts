import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { cacheFolder } from './inputs.ts';
import { type TarEntry, writeTar } from './tar.ts';

export const digestOf = (bytes: Buffer): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** As images are shipped. */
const gzipLevelShipped = 9;

/** A layer as it is shipped. */
export interface Layer {
  /** Of the archive before it was packed. */
  readonly diffId: string;
  readonly blob: Buffer;
}

/**
 * Packs the entries. gzip's header has no time here, so the same entries are the same bytes from one version of zlib.
 * `keep` says that the layer will be wanted again: that of Node takes ten seconds.
 */
export async function packLayer(
  entries: readonly TarEntry[],
  { keep = false, gzipLevel = gzipLevelShipped } = {},
): Promise<Layer> {
  const archive = await writeTar(entries);
  const diffId = digestOf(archive);
  const folder = join(cacheFolder, 'layers', `zlib-${process.versions.zlib}-${gzipLevel}`);
  const kept = join(folder, `${diffId.slice('sha256:'.length)}.tar.gz`);
  if (keep && existsSync(kept)) return { diffId, blob: readFileSync(kept) };
  const blob = await promisify(gzip)(archive, { level: gzipLevel });
  if (keep) {
    mkdirSync(folder, { recursive: true });
    const fresh = `${kept}.${process.pid}`;
    writeFileSync(fresh, blob);
    renameSync(fresh, kept);
  }
  return { diffId, blob };
}
