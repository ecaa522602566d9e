import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Buildable, Built } from '../build.ts';
import { baseFiles, type DebianRecord, serviceUser } from './base-files.ts';
import { fetchDebianPackages } from './debian-packages.ts';
import { appFolder, imageKinds, nodePath, runConfig } from './image-config.ts';
import { type Inputs, root } from './inputs.ts';
import { type Layer, packLayer } from './layer.ts';
import { fetchNode } from './node-program.ts';
import { type Descriptor, mediaTypes, OciLayout } from './oci-layout.ts';
import { type Architecture, platforms } from './platforms.ts';
import type { Release } from './release.ts';
import { type BillOfMaterials, cycloneDx, lockedIntegrity, spdx } from './sbom.ts';
import { directory, file, type TarEntry } from './tar.ts';

/** What is written beside the layouts, as `images.json`. */
export interface ImageList {
  version: string;
  created: string;
  images: ListedImage[];
}

interface ListedImage {
  service: Buildable;
  /** Without registry and tag. */
  name: string;
  tag: string;
  /** Of the index of all platforms. */
  digest: string;
  platforms: {
    platform: string;
    digest: string;
    /** Bytes to pull. */
    size: number;
    /** What is in it, as files beside this list. */
    sboms: { cyclonedx: string; spdx: string };
  }[];
}

export interface ImagesToMake {
  readonly inputs: Inputs;
  readonly release: Release;
  readonly services: readonly Buildable[];
  readonly architectures: readonly Architecture[];
  /** Gets a folder and an archive for each service. */
  readonly out: string;
  readonly built: (service: Buildable) => Promise<Built>;
  /** The checkout that was built, for its terms and what it has locked; this one unless given. */
  readonly source?: string;
  readonly say: (line: string) => void;
  /** Of the layers: that of images which are shipped unless given, which takes Node ten seconds. */
  readonly gzipLevel?: number;
}

/** Makes the images and writes them and their list. */
export async function makeImages(wanted: ImagesToMake): Promise<ImageList> {
  const { release, services, architectures, out, say, gzipLevel, source = root } = wanted;
  const systems = new Map<Architecture, System>();
  for (const architecture of architectures) {
    systems.set(architecture, await makeSystem(wanted.inputs, architecture, gzipLevel));
    say(`${architecture}: Debian's packages and Node ${wanted.inputs.node.version}`);
  }
  const images: ListedImage[] = [];
  for (const service of services) {
    const built = await wanted.built(service);
    const app = await appLayer(service, built, source, gzipLevel);
    const image = await writeImage({ service, app, systems, release, out });
    writeBills(image, { systems, built, source, release, out });
    images.push(image);
    const sizes = image.platforms.map(
      ({ platform, size }) => `${platform} ${(size / 1e6).toFixed(1)} MB`,
    );
    say(`${image.name}:${image.tag}  ${image.digest}  ${sizes.join(', ')}`);
  }
  const list: ImageList = { version: release.version, created: release.created, images };
  writeFileSync(join(out, 'images.json'), `${JSON.stringify(list, null, 2)}\n`);
  return list;
}

/** What all images of an architecture have in common. */
export interface System {
  readonly layers: readonly { layer: Layer; what: string }[];
  readonly debian: readonly DebianRecord[];
  readonly node: { version: string };
}

async function makeSystem(
  inputs: Inputs,
  architecture: Architecture,
  gzipLevel: number | undefined,
): Promise<System> {
  const base = await baseFiles(fetchDebianPackages(inputs, architecture));
  const node = await fetchNode(inputs, architecture);
  const nodeFiles = [
    file(nodePath.slice(1), node.program, { mode: 0o755 }),
    file('usr/share/doc/nodejs/LICENSE', node.licence),
  ];
  return {
    layers: [
      { layer: await packLayer(base.entries, { keep: true, gzipLevel }), what: 'Debian 12' },
      {
        layer: await packLayer(nodeFiles, { keep: true, gzipLevel }),
        what: `Node ${node.version}`,
      },
    ],
    debian: base.records,
    node: { version: node.version },
  };
}

/** The service, the same for all architectures. */
async function appLayer(
  service: Buildable,
  built: Built,
  source: string,
  gzipLevel: number | undefined,
): Promise<Layer> {
  const { volume } = imageKinds[service];
  const folder = built.file.slice(0, -'/main.mjs'.length);
  const app: TarEntry[] = built.files.map((path) =>
    file(`${appFolder.slice(1)}/${path}`, readFileSync(join(folder, path))),
  );
  // Whoever runs it under another user is in its group.
  const data =
    volume === undefined ? [] : [directory(volume.slice(1), { mode: 0o775, ...serviceUser })];
  const licence = file('usr/share/doc/sluice/LICENSE', readFileSync(join(source, 'LICENSE')));
  return packLayer([...app, ...data, licence], { gzipLevel });
}

interface ImageParts {
  service: Buildable;
  app: Layer;
  systems: ReadonlyMap<Architecture, System>;
  release: Release;
  out: string;
}

/** Writes the index of one service and the image of each architecture in it, as `out/<service>` and `out/<service>.oci.tar`. */
export async function writeImage({
  service,
  app,
  systems,
  release,
  out,
}: ImageParts): Promise<ListedImage> {
  const name = `sluice/${service}`;
  const labels = labelsOf(service, release);
  const layout = new OciLayout();
  const manifests: Descriptor[] = [];
  const sizes: ListedImage['platforms'] = [];
  for (const [architecture, system] of systems) {
    const layers = [...system.layers, { layer: app, what: imageKinds[service].title }];
    const { oci } = platforms[architecture];
    const config = layout.addJson(mediaTypes.config, {
      created: release.created,
      author: 'Sluice',
      ...oci,
      config: { ...runConfig(imageKinds[service]), Labels: labels },
      rootfs: { type: 'layers', diff_ids: layers.map(({ layer }) => layer.diffId) },
      history: layers.map(({ what }) => ({ created: release.created, created_by: what })),
    });
    const blobs = layers.map(({ layer }) => layout.add(mediaTypes.layer, layer.blob));
    const manifest = layout.addJson(mediaTypes.manifest, {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config,
      layers: blobs,
      annotations: labels,
    });
    manifests.push({ ...manifest, platform: oci });
    sizes.push({
      platform: `linux/${architecture}`,
      digest: manifest.digest,
      size: [manifest, config, ...blobs].reduce((sum, { size }) => sum + size, 0),
      sboms: {
        cyclonedx: `${service}-${architecture}.cdx.json`,
        spdx: `${service}-${architecture}.spdx.json`,
      },
    });
  }
  const index = layout.addJson(mediaTypes.index, {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests,
    annotations: labels,
  });
  // Who loads the layout names the image by these: podman by the first, containerd by the second.
  const reference = `docker.io/${name}:${release.version}`;
  const named = {
    ...index,
    annotations: {
      'org.opencontainers.image.ref.name': reference,
      'io.containerd.image.name': reference,
    },
  };
  await layout.write(
    join(out, service),
    join(out, `${service}.oci.tar`),
    named,
    join(out, '.blobs'),
  );
  return { service, name, tag: release.version, digest: index.digest, platforms: sizes };
}

function writeBills(
  image: ListedImage,
  {
    systems,
    built,
    source,
    release,
    out,
  }: Pick<ImageParts, 'systems' | 'release' | 'out'> & { built: Built; source: string },
): void {
  const integrityOf = lockedIntegrity(readFileSync(join(source, 'pnpm-lock.yaml'), 'utf8'));
  [...systems].forEach(([architecture, { debian, node }], index) => {
    const platform = image.platforms[index];
    if (platform === undefined) return;
    const bill: BillOfMaterials = {
      name: image.name,
      release,
      architecture,
      digest: platform.digest,
      debian,
      node,
      npm: built.packages,
      integrityOf,
    };
    const write = (name: string, document: object) =>
      writeFileSync(join(out, name), `${JSON.stringify(document, null, 1)}\n`);
    write(platform.sboms.cyclonedx, cycloneDx(bill));
    write(platform.sboms.spdx, spdx(bill));
  });
}

function labelsOf(service: Buildable, release: Release): Record<string, string> {
  const { title, description } = imageKinds[service];
  return {
    'org.opencontainers.image.title': title,
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.version': release.version,
    'org.opencontainers.image.created': release.created,
    ...(release.revision === undefined
      ? {}
      : { 'org.opencontainers.image.revision': release.revision }),
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.vendor': 'Sluice',
    'org.opencontainers.image.base.name': 'scratch',
  };
}
