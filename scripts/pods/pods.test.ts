import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { renderObjects } from '../chart/render.ts';
import { askedName, readAttempts } from './attempts.ts';
import { podManifests } from './manifests.ts';

const objects = renderObjects({ values: { secrets: { existingSecret: 'own' } } });
const names = ['gateway', 'control-plane', 'data-service'].map((name) => `sluice-${name}-tls`);
const own = {
  DATABASE_URL: 'postgres://db',
  CLICKHOUSE_URL: 'http://ch',
  SERVICE_CLIENT_AUTH: 'a',
  KEY_PEPPER: 'b',
  MASTER_KEY: 'c',
  SNAPSHOT_KEY: 'd',
};
const secrets = new Map<string, Record<string, string>>([
  ['own', own],
  ['sluice-first-keys', { ADMIN_KEY: 'e', WORKSPACE_KEY: 'f' }],
  ...names.map((name): [string, Record<string, string>] => [name, { 'tls.crt': 'certificate' }]),
]);

it('changes nothing of what a container may, and leaves nothing that Podman cannot play', () => {
  const played = podManifests(objects, secrets);
  const deployments = parseAllDocuments(played.services)
    .map((document) => document.toJS())
    .filter(({ kind }) => kind === 'Deployment');
  expect(deployments).toHaveLength(3);
  for (const deployment of deployments) {
    const { spec } = deployment.spec.template;
    const rendered = objects.find(
      ({ kind, metadata }) =>
        (kind === 'Deployment' || kind === 'StatefulSet') &&
        metadata.name === deployment.metadata.name,
    )?.spec.template.spec;
    expect(spec.securityContext).toEqual(rendered.securityContext);
    const [container] = spec.containers;
    for (const field of ['image', 'securityContext', 'resources', 'volumeMounts', 'envFrom'])
      expect(container[field], field).toEqual(rendered.containers[0][field]);
    expect(container.imagePullPolicy).toBe('Never');
    expect(container.env).toContainEqual({ name: 'SERVICE_CLIENT_AUTH', value: 'a' });
    expect(JSON.stringify(deployment)).not.toMatch(/secretKeyRef|Probe|"secret"/);
  }
  // A gateway keeps its volume.
  expect(played.services).toContain(
    '"persistentVolumeClaim":{"claimName":"data-sluice-gateway-0"}',
  );
  expect(played.services).toContain('"kind":"PersistentVolumeClaim"');
  expect(played.migrations).toContain('"kind":"Pod"');
});

it('names a Secret that nobody has', () => {
  expect(() => podManifests(objects, new Map([...secrets, ['own', {}]]))).toThrow(
    /^Secret own has no \w+\.$/,
  );
});

it('reads what was counted, and what was asked for', () => {
  const counted = {
    nftables: [
      { metainfo: {} },
      { set: { name: 'six' } },
      {
        set: {
          name: 'four',
          elem: [
            {
              elem: {
                val: { concat: ['192.0.2.1', 'tcp', 443] },
                counter: { packets: 2, bytes: 120 },
              },
            },
          ],
        },
      },
    ],
  };
  expect(readAttempts(JSON.stringify(counted))).toEqual([
    { address: '192.0.2.1', protocol: 'tcp', port: 443, packets: 2 },
  ]);
  const query = Buffer.from(
    '\0\x01\x01\0\0\x01\0\0\0\0\0\0\x06models\x07example\0\0\x01\0\x01',
    'latin1',
  );
  expect(askedName(query)).toBe('models.example');
  expect(askedName(query.subarray(0, 12))).toBe('');
});
