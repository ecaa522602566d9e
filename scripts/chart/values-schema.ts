/**
 * deploy/chart/sluice/values.schema.json: the chart's own values, written here,
 * and the services' settings, as their `settings.ts` have them. Nothing
 * unknown is taken but within objects that Kubernetes itself describes.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DescribedSetting } from '@sluice/env';
import { parse } from 'yaml';
import { type ChartComponent, componentSettings, settingsOfComponents } from './chart-settings.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const name: Schema = {
  type: 'string',
  pattern: '^$|^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
  maxLength: 253,
};
const count = (minimum: number, maximum = 10_000): Schema => ({
  type: 'integer',
  minimum,
  maximum,
});
const port = count(1, 65_535);
const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'] });
/** As names of images begin: a host and a path, and no `https://`. */
const registryPattern = '[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*/?';
const registry: Schema = { type: 'string', pattern: `^${registryPattern}$` };
const optionalRegistry: Schema = { type: 'string', pattern: `^(${registryPattern})?$` };
/** As Kubernetes has it: its API server looks into it. */
const kubernetesObject: Schema = { type: 'object' };
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const kubernetesList = listOf(kubernetesObject);
const texts: Schema = { type: 'object', additionalProperties: text };
const size: Schema = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$' };
const share: Schema = { type: ['integer', 'string', 'null'], pattern: '^[0-9]+%$', minimum: 0 };
const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
const durationPattern = '^[0-9]+(h|m|s|ms)([0-9]+(m|s|ms))*$';
const duration: Schema = { type: 'string', pattern: durationPattern };

const optionalDuration: Schema = { type: 'string', pattern: `^$|${durationPattern}` };

function object(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []) {
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    properties,
  };
}

/** How a setting is written in values. */
export function settingSchema(setting: DescribedSetting): Schema {
  const { kind, about: description, fallback, min, max, values } = setting;
  const told = { description, ...(fallback === undefined ? {} : { default: fallback }) };
  const listItem: Schema = { type: ['string', 'number'] };
  switch (kind) {
    case 'integer':
      return { ...told, type: 'integer', minimum: min, maximum: max };
    case 'number':
      return { ...told, type: 'number', minimum: min, maximum: max };
    case 'boolean':
      return { ...told, type: 'boolean' };
    case 'choice':
      return { ...told, type: 'string', enum: values };
    case 'list':
      return { ...told, type: 'array', items: listItem };
    case 'uuids':
      return { ...told, type: 'array', items: { type: 'string', format: 'uuid' } };
    case 'url':
      return { ...told, type: 'string', pattern: '^[a-z][a-z0-9+.-]*://' };
    default:
      return { ...told, type: 'string' };
  }
}

/**
 * Settings of some components together. What is secret or the chart's own is
 * named too, so that the templates can refuse it with a sentence that says where it belongs.
 */
function settings(...components: readonly ChartComponent[]): Schema {
  const properties: Record<string, Schema> = {};
  for (const component of components) {
    const { secrets, owned } = componentSettings(component);
    for (const setting of settingsOfComponents[component]) {
      const { name } = setting;
      if (secrets.includes(name)) properties[name] = { description: 'Refused: a secret.' };
      else if (owned[name] !== undefined)
        properties[name] = { description: `Refused: ${owned[name]}.` };
      else properties[name] ??= settingSchema(setting);
    }
  }
  return object(properties);
}

const image = object({
  repository: { type: 'string', pattern: '^[a-z0-9]+([._/-][a-z0-9]+)*$' },
  tag: text,
  digest: { type: 'string', pattern: '^$|^sha256:[0-9a-f]{64}$' },
});

const probe = object({
  initialDelaySeconds: count(0),
  periodSeconds: count(1),
  timeoutSeconds: count(1),
  failureThreshold: count(1),
  successThreshold: count(1),
});

/** Where pods run and what they have besides. */
const placing = {
  resources: kubernetesObject,
  podAnnotations: texts,
  podLabels: texts,
  nodeSelector: texts,
  tolerations: kubernetesList,
  affinity: kubernetesObject,
  priorityClassName: text,
  runtimeClassName: text,
  hostAliases: kubernetesList,
  dnsPolicy: oneOf('', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'),
  dnsConfig: kubernetesObject,
  extraEnv: listOf({ ...kubernetesObject, required: ['name'] }),
  extraEnvFrom: kubernetesList,
  extraVolumes: kubernetesList,
  extraVolumeMounts: kubernetesList,
  podSecurityContext: kubernetesObject,
  securityContext: kubernetesObject,
};

function service(component: ChartComponent, more: Record<string, Schema>, scaling = {}): Schema {
  return object({
    ...placing,
    replicas: orNull(count(1)),
    image,
    settings: settings(component),
    existingSecret: name,
    drain: object({ shutdownDelaySeconds: count(0, 600), drainSeconds: count(0, 86_400) }),
    terminationGracePeriodSeconds: orNull(count(1, 90_000)),
    service: object({ annotations: texts }),
    autoscaling: object({
      enabled: flag,
      minReplicas: count(1),
      maxReplicas: count(1),
      targetCPUUtilizationPercentage: count(1, 1000),
      extraMetrics: kubernetesList,
      behavior: kubernetesObject,
      ...scaling,
    }),
    podDisruptionBudget: object({ enabled: flag, maxUnavailable: share, minAvailable: share }),
    probes: object({ startup: probe, readiness: probe, liveness: probe }),
    strategy: kubernetesObject,
    revisionHistoryLimit: count(0),
    minReadySeconds: count(0),
    annotations: texts,
    topologySpreadConstraints: kubernetesList,
    extraContainers: kubernetesList,
    initContainers: kubernetesList,
    serviceAccount: object({ create: flag, name, annotations: texts }),
    ...more,
  });
}

const retention = oneOf('Retain', 'Delete');
const store = object({ existingSecret: name, key: text });
const optionalStore = object({ enabled: flag, existingSecret: name, key: text });
const peers = object({ to: kubernetesList, ports: listOf(port) });
const trialStore = (more: Record<string, Schema> = {}) =>
  object({ image: text, user: count(1, 2 ** 31), ...more });

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Values of the chart sluice',
  // The condition of a chart that has this one as a part stands among its values; nothing here reads it.
  patternProperties: { '^enabled$': flag },
  ...object({
    nameOverride: name,
    fullnameOverride: name,
    clusterDomain: { ...name, minLength: 1 },
    commonLabels: texts,
    commonAnnotations: texts,
    // Of charts that have this one as a part, too.
    global: {
      type: 'object',
      properties: { imageRegistry: optionalRegistry, imagePullSecrets: listOf(name) },
    },
    image: object({
      registry,
      tag: text,
      pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
    }),
    openshift: flag,
    listenAddress: oneOf('0.0.0.0', '::'),
    settings: settings('gateway', 'control-plane', 'data-service', 'migrations'),
    secrets: object({ existingSecret: name, generate: flag }),
    stores: object({
      postgres: store,
      clickhouse: store,
      nats: optionalStore,
      redis: optionalStore,
    }),
    tls: object({
      mode: oneOf('own', 'certManager', 'existing', 'none'),
      own: object({
        days: count(2, 825),
        renew: object({
          enabled: flag,
          schedule: { ...text, pattern: '^(@[a-z]+|\\S+( +\\S+){4})$' },
        }),
      }),
      certManager: object({
        issuerRef: object({ name: text, kind: text, group: text }),
        duration,
        renewBefore: duration,
      }),
      existing: object({ gateway: name, controlPlane: name, dataService: name }),
    }),
    firstKeys: object({ enabled: flag, existingSecret: name }),
    gateway: service(
      'gateway',
      {
        persistence: object({
          enabled: flag,
          size,
          storageClassName: name,
          accessModes: listOf(oneOf('ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany')),
          annotations: texts,
          retention: object({ whenScaled: retention, whenDeleted: retention }),
        }),
        grpc: object({ enabled: flag }),
        mcpPort: object({ enabled: flag }),
        ephemeralSize: size,
        service: object({
          type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
          port,
          nodePort: orNull(port),
          annotations: texts,
          loadBalancerClass: text,
          loadBalancerSourceRanges: listOf(text),
          externalTrafficPolicy: oneOf('', 'Cluster', 'Local'),
        }),
      },
      {
        openStreams: object({
          enabled: flag,
          averageValue: { type: 'string', pattern: '^[1-9][0-9]*$' },
        }),
      },
    ),
    controlPlane: service('control-plane', {}),
    dataService: service('data-service', {}),
    migrations: object({
      ...placing,
      hook: flag,
      image,
      settings: settings('migrations'),
      existingSecret: name,
      backoffLimit: count(0),
      activeDeadlineSeconds: count(10, 86_400),
      ttlSecondsAfterFinished: orNull(count(0, 604_800)),
      serviceAccount: object({ annotations: texts }),
    }),
    ingress: object({
      enabled: flag,
      className: name,
      annotations: texts,
      hosts: listOf({ type: 'string', pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' }),
      path: { type: 'string', pattern: '^/' },
      pathType: oneOf('Prefix', 'ImplementationSpecific'),
      tls: kubernetesList,
    }),
    httpRoute: object({
      enabled: flag,
      annotations: texts,
      parentRefs: kubernetesList,
      hostnames: listOf(text),
      path: { type: 'string', pattern: '^/([^/?#]+(/[^/?#]+)*)?$' },
      requestTimeout: optionalDuration,
      backendRequestTimeout: optionalDuration,
    }),
    networkPolicy: object({
      enabled: flag,
      callers: kubernetesList,
      scrapers: kubernetesList,
      dns: peers,
      postgres: peers,
      clickhouse: peers,
      nats: peers,
      redis: peers,
      kubernetes: peers,
      providers: peers,
      objectStore: peers,
      extraEgress: object({
        gateway: kubernetesList,
        controlPlane: kubernetesList,
        dataService: kubernetesList,
        migrations: kubernetesList,
      }),
    }),
    serviceMonitor: object({
      enabled: flag,
      labels: texts,
      interval: duration,
      scrapeTimeout: duration,
    }),
    prometheusRule: object({ enabled: flag, labels: texts }),
    dashboards: object({ enabled: flag, labels: texts, annotations: texts }),
    tests: object({ enabled: flag }),
    trial: object({
      enabled: flag,
      postgres: trialStore({ size }),
      clickhouse: trialStore({ size }),
      nats: trialStore({ size }),
      redis: trialStore(),
      demoUpstreamUrl: { type: 'string', pattern: '^$|^https?://' },
    }),
  }),
};

const valuesFile = resolve(import.meta.dirname, '../../deploy/chart/sluice/values.yaml');

/**
 * What may not be null: all that has a default, but free maps. Helm takes the default away from a name with nothing behind
 * it, and templates would say that in words of Go.
 */
function requiringDefaults(of: Schema, defaults: unknown): Schema {
  const { properties } = of as { properties?: Readonly<Record<string, Schema>> };
  if (properties === undefined || !isFilled(defaults)) return of;
  const known = defaults as Readonly<Record<string, unknown>>;
  const required = Object.keys(properties).filter((name) => {
    const { type, properties: structured } = properties[name] ?? {};
    const isFreeMap = type === 'object' && structured === undefined;
    return isFilled(known[name]) && !isFreeMap && !(Array.isArray(type) && type.includes('null'));
  });
  const below = Object.entries(properties).map(([name, each]) => [
    name,
    requiringDefaults(each, known[name]),
  ]);
  return { ...of, required, properties: Object.fromEntries(below) };
}

/** Neither empty nor nothing. */
function isFilled(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

export function valuesSchemaFile(): string {
  const defaults: unknown = parse(readFileSync(valuesFile, 'utf8'));
  return `${JSON.stringify(requiringDefaults(schema, defaults), null, 2)}\n`;
}
