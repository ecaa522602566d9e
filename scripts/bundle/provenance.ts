import { type KeyObject, sign } from 'node:crypto';

export interface Provenance {
  /** What was made, with the digest of each. */
  subjects: readonly { name: string; sha256: string }[];
  /** Of the checkout. */
  commit: string;
  version: string;
  /** Packages that went in from elsewhere: purl and sha256, or nothing more than the purl. */
  materials: readonly { uri: string; sha256?: string }[];
}

const payloadType = 'application/vnd.in-toto+json';

/**
 * A statement on how the images were made, in an envelope that is signed; without a network and a log.
 * https://slsa.dev/spec/v1.0/provenance, https://github.com/secure-systems-lab/dsse
 */
export function signProvenance(provenance: Provenance, key: KeyObject): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: provenance.subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:sluice:bundle:v1',
        externalParameters: { version: provenance.version },
        internalParameters: {},
        resolvedDependencies: [
          { uri: 'urn:sluice:source', digest: { gitCommit: provenance.commit } },
          ...provenance.materials.map(({ uri, sha256 }) =>
            sha256 === undefined ? { uri } : { uri, digest: { sha256 } },
          ),
        ],
      },
      runDetails: { builder: { id: 'urn:sluice:npm-run-bundle' } },
    },
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const signature = sign('sha256', preAuthentication(payload), key);
  const envelope = {
    payloadType,
    payload: payload.toString('base64'),
    signatures: [{ sig: signature.toString('base64') }],
  };
  return `${JSON.stringify(envelope)}\n`;
}

/** What is signed: the type is part of it, so that nothing can be passed off as something else. */
export function preAuthentication(payload: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
    payload,
  ]);
}
