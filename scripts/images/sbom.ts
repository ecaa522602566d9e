import { createHash } from 'node:crypto';
import type { BundledPackage } from '../bundling/bundled-packages.ts';
import type { DebianRecord } from './base-files.ts';
import type { Release } from './release.ts';

/** What an image of one architecture holds. */
export interface BillOfMaterials {
  /** `sluice/gateway`. */
  readonly name: string;
  readonly release: Release;
  readonly architecture: string;
  /** Of the image's manifest. */
  readonly digest: string;
  readonly debian: readonly DebianRecord[];
  readonly node: { version: string };
  /** What is in the service's bundle, and no other package of the lock file. */
  readonly npm: readonly BundledPackage[];
  /** What the lock file says of `name@version`, such as `sha512-…`. */
  readonly integrityOf: (id: string) => string | undefined;
}

/** A component in both formats' words. */
interface Component {
  type: 'library' | 'operating-system' | 'application';
  name: string;
  version: string;
  purl: string;
  licence?: string;
  /** SHA-512, hexadecimal. */
  sha512?: string;
  cpe?: string;
}

function componentsOf({
  debian,
  node,
  npm,
  architecture,
  integrityOf,
}: BillOfMaterials): Component[] {
  return [
    ...debian.map(
      (each): Component => ({
        type: 'library',
        name: each.name,
        version: each.version,
        purl: `pkg:deb/debian/${encodeURIComponent(each.name)}@${encodeURIComponent(each.version)}?arch=${each.architecture === 'all' ? 'all' : architecture}&distro=debian-12`,
      }),
    ),
    {
      type: 'application',
      name: 'node',
      version: node.version,
      purl: `pkg:generic/node@${node.version}`,
      licence: 'MIT',
      cpe: `cpe:2.3:a:nodejs:node.js:${node.version}:*:*:*:*:*:*:*`,
    },
    ...npm.map(({ name, version, licence }): Component => {
      const sha512 = /^sha512-(.+)$/.exec(integrityOf(`${name}@${version}`) ?? '')?.[1];
      return {
        type: 'library',
        name,
        version,
        purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
        ...(licence === 'NOASSERTION' ? {} : { licence: licence.replace(/^\((.*)\)$/, '$1') }),
        ...(sha512 === undefined ? {} : { sha512: Buffer.from(sha512, 'base64').toString('hex') }),
      };
    }),
  ];
}

/** CycloneDX 1.6 as JSON. */
export function cycloneDx(bill: BillOfMaterials): object {
  const components = componentsOf(bill);
  const image = purlOf(bill);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`cyclonedx ${bill.digest}`)}`,
    version: 1,
    metadata: {
      timestamp: bill.release.created,
      component: {
        type: 'container',
        'bom-ref': image,
        name: bill.name,
        version: bill.release.version,
        purl: image,
        licenses: [{ expression: 'Apache-2.0' }],
      },
    },
    components: components.map(({ licence, sha512, cpe, ...each }) => ({
      'bom-ref': each.purl,
      ...each,
      ...(licence === undefined ? {} : { licenses: [{ expression: licence }] }),
      ...(sha512 === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
      ...(cpe === undefined ? {} : { cpe }),
    })),
    dependencies: [{ ref: image, dependsOn: components.map(({ purl }) => purl) }],
  };
}

/** SPDX 2.3 as JSON. */
export function spdx(bill: BillOfMaterials): object {
  const components = componentsOf(bill);
  const unsaid = {
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    copyrightText: 'NOASSERTION',
  };
  const purlReference = (purl: string) => ({
    referenceCategory: 'PACKAGE-MANAGER',
    referenceType: 'purl',
    referenceLocator: purl,
  });
  const image = 'SPDXRef-image';
  const idOf = (index: number) => `SPDXRef-component-${index + 1}`;
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${bill.name}-${bill.release.version}-${bill.architecture}`,
    documentNamespace: `urn:uuid:${uuidOf(`spdx ${bill.digest}`)}`,
    creationInfo: {
      created: bill.release.created,
      creators: ['Organization: Sluice', `Tool: sluice-images-${bill.release.version}`],
    },
    packages: [
      {
        SPDXID: image,
        name: bill.name,
        versionInfo: bill.release.version,
        ...unsaid,
        licenseDeclared: 'Apache-2.0',
        primaryPackagePurpose: 'CONTAINER',
        externalRefs: [purlReference(purlOf(bill))],
      },
      ...components.map((each, index) => ({
        SPDXID: idOf(index),
        name: each.name,
        versionInfo: each.version,
        ...unsaid,
        licenseDeclared: each.licence ?? 'NOASSERTION',
        ...(each.sha512 === undefined
          ? {}
          : { checksums: [{ algorithm: 'SHA512', checksumValue: each.sha512 }] }),
        externalRefs: [
          purlReference(each.purl),
          ...(each.cpe === undefined
            ? []
            : [
                {
                  referenceCategory: 'SECURITY',
                  referenceType: 'cpe23Type',
                  referenceLocator: each.cpe,
                },
              ]),
        ],
      })),
    ],
    relationships: [
      {
        spdxElementId: 'SPDXRef-DOCUMENT',
        relationshipType: 'DESCRIBES',
        relatedSpdxElement: image,
      },
      ...components.map((_, index) => ({
        spdxElementId: image,
        relationshipType: 'CONTAINS',
        relatedSpdxElement: idOf(index),
      })),
    ],
  };
}

const purlOf = ({ name, digest, architecture, release }: BillOfMaterials) =>
  `pkg:oci/${name.split('/').at(-1)}@${encodeURIComponent(digest)}?arch=${architecture}&tag=${release.version}`;

/** The same for the same text: a document is made again with the same bytes. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Reads the digests of packages from the text of pnpm's lock file. */
export function lockedIntegrity(lockFile: string): (id: string) => string | undefined {
  const found = new Map(
    [
      ...lockFile.matchAll(/^ {2}'?([^\s'][^'\n]*?)'?:\n {4}resolution: \{integrity: ([^},]+)/gm),
    ].map(([, id, integrity]) => [id as string, integrity as string]),
  );
  return (id) => found.get(id);
}
