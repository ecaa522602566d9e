import { createHash, type KeyObject, sign } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageList } from '../images/make-images.ts';

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

const refName = 'org.opencontainers.image.ref.name';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
/** https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md */
const signatureLayer = 'application/vnd.dev.cosign.simplesigning.v1+json';
const signatureAnnotation = 'dev.cosignproject.cosign/signature';

/** Names of the chart's values that images stand under. */
const chartValues: Readonly<Record<string, string>> = {
  gateway: 'gateway',
  'control-plane': 'controlPlane',
  'data-service': 'dataService',
  migrations: 'migrations',
};

/**
 * Puts the layouts of all images into one, which holds what they share once, with a signature of
 * each index and each platform's image as cosign attaches them. Writes for `install.sh`
 * `IMAGES` (value of the chart, name, digest) and `SIGNATURES` (name, tag); answers with the payloads
 * and signatures as files, by name.
 */
export function mergeImages(
  from: string,
  to: string,
  key: KeyObject,
): { list: ImageList; signatures: Map<string, Buffer> } {
  const list = JSON.parse(readFileSync(join(from, 'images.json'), 'utf8')) as ImageList;
  const blobs = join(to, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const manifests: Descriptor[] = [];
  const signatures = new Map<string, Buffer>();
  const attached: string[] = [];
  for (const { service, name, tag, digest, platforms } of list.images) {
    const layout = join(from, service);
    const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
      manifests: Descriptor[];
    };
    const found = index.manifests.find((descriptor) => descriptor.digest === digest);
    if (found === undefined) throw new Error(`${layout}: has no ${digest}, as images.json says`);
    manifests.push({ ...found, annotations: { [refName]: `docker.io/${name}:${tag}` } });
    copyBlobs(join(layout, 'blobs/sha256'), blobs);
    for (const signed of [digest, ...platforms.map((platform) => platform.digest)]) {
      const payload = payloadOf(name, signed);
      const signature = sign('sha256', payload, key);
      const artifact = artifactOf(payload, signature, blobs);
      const signatureTag = `${signed.replace(':', '-')}.sig`;
      manifests.push({
        ...artifact,
        annotations: { [refName]: `docker.io/${name}:${signatureTag}` },
      });
      attached.push(`${name} ${signatureTag}\n`);
      const file = `${service}-${signed.replace(':', '-')}`;
      signatures.set(`${file}.payload.json`, payload);
      signatures.set(`${file}.sig`, signature);
    }
  }
  writeFileSync(join(to, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(
    join(to, 'index.json'),
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests,
    }),
  );
  const lines = list.images.map(
    ({ service, name, digest }) => `${chartValues[service] ?? '-'} ${name} ${digest}\n`,
  );
  writeFileSync(join(to, 'IMAGES'), lines.join(''));
  writeFileSync(join(to, 'SIGNATURES'), attached.join(''));
  return { list, signatures };
}

function copyBlobs(from: string, to: string): void {
  for (const name of readdirSync(from))
    if (!existsSync(join(to, name))) cpSync(join(from, name), join(to, name));
}

function payloadOf(name: string, digest: string): Buffer {
  return Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': `docker.io/${name}` },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
      },
      optional: null,
    }),
  );
}

/** An image of one layer, which is the payload, as cosign stores it. */
function artifactOf(payload: Buffer, signature: Buffer, blobs: string): Descriptor {
  const put = (bytes: Buffer, mediaType: string): Descriptor => {
    const hex = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(blobs, hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const layer = {
    ...put(payload, signatureLayer),
    annotations: { [signatureAnnotation]: signature.toString('base64') },
  };
  const config = put(
    Buffer.from(
      JSON.stringify({
        architecture: '',
        os: '',
        created: '0001-01-01T00:00:00Z',
        config: {},
        rootfs: { type: 'layers', diff_ids: [layer.digest] },
      }),
    ),
    'application/vnd.oci.image.config.v1+json',
  );
  const manifest = { schemaVersion: 2, mediaType: manifestType, config, layers: [layer] };
  return put(Buffer.from(JSON.stringify(manifest)), manifestType);
}
