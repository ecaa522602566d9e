import type { KubernetesObject } from '../chart/render.ts';

/** Values of Secrets by the Secret's name, in the clear. */
export type SecretValues = ReadonlyMap<string, Readonly<Record<string, string>>>;

export interface PodManifests {
  /** Migrations and first keys: the chart's Job as a pod. */
  readonly migrations: string;
  readonly services: string;
}

/**
 * The chart's objects as Podman 4.3 plays them, all in one network: its Secrets panic, so values stand in the
 * environment and files in ConfigMaps; it knows no Jobs and no StatefulSets, which are Deployments with their claims
 * here, and its probes call a shell that the images do not have.
 * What a container may (user, capabilities, file system, limits) stays as the chart has it.
 * @throws Error for a Secret or key that the chart asks for and nobody has
 */
export function podManifests(
  objects: readonly KubernetesObject[],
  secrets: SecretValues,
): PodManifests {
  const configs = objects.filter(({ kind }) => kind === 'ConfigMap');
  const job = objects.find(
    ({ kind, metadata }) => kind === 'Job' && metadata.name === 'sluice-migrations',
  );
  if (job === undefined) throw new Error('The chart rendered no Job sluice-migrations.');
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: job.metadata.name, labels: job.spec.template.metadata.labels },
    spec: {
      ...podSpec(job.spec.template.spec, job.metadata.name, secrets),
      restartPolicy: 'Never',
    },
  };
  const claims: object[] = [];
  const deployments = objects
    .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    .map((deployment) => ({
      ...deployment,
      kind: 'Deployment',
      spec: {
        ...deployment.spec,
        template: {
          ...deployment.spec.template,
          spec: podSpec(withClaims(deployment, claims), deployment.metadata.name, secrets),
        },
      },
    }));
  const files = deployments.flatMap(({ spec }) =>
    (spec.template.spec.volumes as Field[]).flatMap(({ configMap }) => {
      const data = secrets.get(configMap?.name);
      return data === undefined
        ? []
        : [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: configMap.name }, data }];
    }),
  );
  return {
    migrations: documents([...configs, pod]),
    services: documents([...configs, ...files, ...claims, ...deployments]),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: fields of Kubernetes, as the chart rendered and checked them
type Field = Record<string, any>;

/** The pod with its volumes, each a claim, which are told too. */
function withClaims({ metadata, spec }: KubernetesObject, claims: object[]): Field {
  const pod = spec.template.spec;
  const made = ((spec.volumeClaimTemplates ?? []) as Field[]).map((template) => {
    const name = `${template.metadata.name}-${metadata.name}-0`;
    const owner = String(pod.securityContext.fsGroup);
    claims.push({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name,
        // Podman gives volumes to nobody's group.
        annotations: { 'volume.podman.io/uid': owner, 'volume.podman.io/gid': owner },
      },
      spec: template.spec,
    });
    return { name: template.metadata.name, persistentVolumeClaim: { claimName: name } };
  });
  return { ...pod, volumes: [...pod.volumes, ...made] };
}

function podSpec(spec: Field, pod: string, secrets: SecretValues): Field {
  const { topologySpreadConstraints: _spread, initContainers, ...kept } = spec;
  const container = ({
    startupProbe: _startup,
    readinessProbe: _readiness,
    livenessProbe: _liveness,
    ports: _ports,
    env = [],
    ...others
  }: Field) => ({
    ...others,
    imagePullPolicy: 'Never',
    env: env.flatMap((entry: Field) => plainEntry(entry, pod, secrets)),
  });
  return {
    ...kept,
    hostNetwork: true,
    containers: spec.containers.map(container),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(container) }),
    volumes: spec.volumes.map(({ secret, ...volume }: Field) => {
      if (secret === undefined) return volume;
      if (!secrets.has(secret.secretName))
        throw new Error(`There is no Secret ${secret.secretName}.`);
      return { ...volume, configMap: { name: secret.secretName } };
    }),
  };
}

function plainEntry(entry: Field, pod: string, secrets: SecretValues): Field[] {
  if (entry.valueFrom?.fieldRef !== undefined) return [{ name: entry.name, value: pod }];
  const wanted = entry.valueFrom?.secretKeyRef;
  if (wanted === undefined) return [entry];
  const value = secrets.get(wanted.name)?.[wanted.key];
  if (value !== undefined) return [{ name: entry.name, value }];
  if (wanted.optional === true) return [];
  throw new Error(`Secret ${wanted.name} has no ${wanted.key}.`);
}

function documents(objects: readonly object[]): string {
  return objects.map((object) => `---\n${JSON.stringify(object)}\n`).join('');
}
