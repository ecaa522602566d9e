import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from './layer.ts';
import { directory, file, writeTar } from './tar.ts';

/** A reference to a blob, as the OCI image specification writes it. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
  platform?: { architecture: string; os: string; variant?: string };
}

export const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

/** The blobs of an OCI image layout while it is made. */
export class OciLayout {
  readonly #blobs = new Map<string, Buffer>();

  add(mediaType: string, blob: Buffer): Descriptor {
    const digest = digestOf(blob);
    this.#blobs.set(digest, blob);
    return { mediaType, digest, size: blob.length };
  }

  addJson(mediaType: string, document: object): Descriptor {
    return this.add(mediaType, Buffer.from(JSON.stringify(document)));
  }

  /**
   * Writes `folder` and the same as one file, `archive`.
   * @param pool where blobs that several layouts have are written once
   */
  async write(folder: string, archive: string, image: Descriptor, pool: string): Promise<void> {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
    mkdirSync(pool, { recursive: true });
    const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [image] };
    const heads = {
      'oci-layout': JSON.stringify({ imageLayoutVersion: '1.0.0' }),
      'index.json': JSON.stringify(index),
    };
    for (const [name, text] of Object.entries(heads)) writeFileSync(join(folder, name), text);
    for (const [digest, blob] of this.#blobs) {
      const name = digest.slice('sha256:'.length);
      const pooled = join(pool, name);
      try {
        writeFileSync(pooled, blob, { flag: 'wx' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      linkSync(pooled, join(folder, 'blobs/sha256', name));
    }
    const entries = [
      directory('blobs/sha256'),
      ...Object.entries(heads).map(([name, text]) => file(name, text)),
      ...[...this.#blobs].map(([digest, blob]) => file(`blobs/${digest.replace(':', '/')}`, blob)),
    ];
    writeFileSync(archive, await writeTar(entries));
  }
}

/** @throws Error naming what of a layout is not as its descriptors say */
export function verifyLayout(folder: string): { manifests: Descriptor[] } {
  const read = (descriptor: Descriptor): Buffer => {
    const blob = readFileSync(join(folder, 'blobs', descriptor.digest.replace(':', '/')));
    if (digestOf(blob) !== descriptor.digest)
      throw new Error(`${descriptor.digest} has other content.`);
    if (blob.length !== descriptor.size)
      throw new Error(`${descriptor.digest} is not as long as it says.`);
    return blob;
  };
  const json = (bytes: Buffer): never => JSON.parse(bytes.toString('utf8')) as never;
  const layout = json(readFileSync(join(folder, 'oci-layout'))) as { imageLayoutVersion: string };
  if (layout.imageLayoutVersion !== '1.0.0') throw new Error('The layout is of another version.');
  const index = json(readFileSync(join(folder, 'index.json'))) as { manifests: Descriptor[] };
  const manifests: Descriptor[] = [];
  for (const image of index.manifests) {
    const images = json(read(image)) as { mediaType: string; manifests: Descriptor[] };
    for (const platform of images.manifests) {
      manifests.push(platform);
      const manifest = json(read(platform)) as { config: Descriptor; layers: Descriptor[] };
      read(manifest.config);
      manifest.layers.forEach(read);
    }
  }
  return { manifests };
}
