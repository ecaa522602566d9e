import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type DescribedSetting, graceMs } from '@sluice/env';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { settingsOfServices } from '../docs/settings-page.ts';
import {
  type ChartComponent,
  componentSettings,
  settingsOfComponents,
  unusedOwned,
} from './chart-settings.ts';
import { helm } from './helm.ts';
import { flowsPicture, networkTable, tableBelow } from './network-table.ts';
import {
  chartFolder,
  type KubernetesObject,
  objectsOf,
  type Rendered,
  render as renderAnew,
  root,
  type ValueSet,
} from './render.ts';
import { faultsOf } from './validate.ts';
import { own, profiles, refusals, valueSets } from './value-sets.ts';

/** The short form of `npm run chart`. */

const components = Object.keys(settingsOfComponents) as ChartComponent[];
/** What the same values render to is the same: Helm is asked once, and each test has objects of its own. */
const renderings = new Map<string, Rendered>();
const parsed = new Map<string, KubernetesObject[]>();
function render(set: ValueSet): Rendered {
  const key = JSON.stringify(set);
  const known = renderings.get(key) ?? renderAnew(set);
  renderings.set(key, known);
  return known;
}
function renderObjects(set: ValueSet): KubernetesObject[] {
  const { ok, text, told } = render(set);
  if (!ok) throw new Error(told);
  const known = parsed.get(text) ?? objectsOf(text);
  parsed.set(text, known);
  return structuredClone(known);
}

const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');

describe('profiles', () => {
  it('render to objects that Kubernetes takes, without a field that it does not know', async () => {
    const objects = Object.values(profiles).flatMap((set) => renderObjects(set));
    expect(await faultsOf(objects)).toEqual([]);
  });

  it('are told from what Kubernetes does not take', async () => {
    const [sample] = renderObjects({ values: own }).filter(({ kind }) => kind === 'StatefulSet');
    const wrong = structuredClone(sample) as NonNullable<typeof sample>;
    const [container] = wrong.spec.template.spec.containers;
    container.securityContext.readOnlyRootFilesytem = true;
    wrong.spec.replicas = '2';
    const faults = (await faultsOf([wrong])).join('\n');
    expect(faults).toContain('readOnlyRootFilesytem');
    expect(faults).toContain('/spec/replicas');
  });
});

describe('values', () => {
  it.each(Object.entries(refusals))(
    'are refused with a sentence: %s',
    (_name, [values, sentence]) => {
      const { ok, told } = render({ values });
      expect(told).toContain(sentence);
      expect(told).not.toMatch(/nil pointer|wrong type for value|invalid value; expected/);
      expect(ok).toBe(false);
    },
  );

  it('may be blocks of which nothing is left but their names', async () => {
    const objects = renderObjects(valueSets['blocks of which nothing is left'] ?? {});
    const least = renderObjects({ values: own });
    const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata.name}`;
    expect(objects.map(nameOf)).toEqual(least.map(nameOf));
    expect(await faultsOf(objects)).toEqual([]);
  });

  it('may be nought', () => {
    const values = { ...own, migrations: { hook: false, ttlSecondsAfterFinished: 0 } };
    const job = renderObjects({ values }).find(({ kind }) => kind === 'Job');
    expect(job?.spec.ttlSecondsAfterFinished).toBe(0);
  });

  it('have the names that the schema has, all of them', () => {
    const schema = JSON.parse(read('deploy/chart/sluice/values.schema.json')) as Schema;
    expect(namesIn(parse(readFileSync(`${chartFolder}/values.yaml`, 'utf8')), schema)).toEqual([]);
  });
});

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: unknown;
}

/** What stands in one of values and schema, and not in the other; settings have no values. */
function namesIn(values: unknown, { properties, additionalProperties }: Schema, at = ''): string[] {
  if (properties === undefined || at.endsWith('.settings')) return [];
  const has = (values ?? {}) as Record<string, unknown>;
  // What a map or an optional object of others has is the user's own.
  if (at.includes('.probes.') || at.endsWith('.issuerRef')) return [];
  const missing = Object.keys(properties).filter((name) => !(name in has));
  const unknown =
    additionalProperties === false ? Object.keys(has).filter((name) => !(name in properties)) : [];
  const below = Object.entries(properties).flatMap(([name, schema]) =>
    namesIn(has[name], schema, `${at}.${name}`),
  );
  return [
    ...missing.map((name) => `${at}.${name} is not in values.yaml`),
    ...unknown.map((name) => `${at}.${name} is not in the schema`),
    ...below,
  ];
}

describe('settings', () => {
  it('that no service has are not set by the chart', () => {
    expect(unusedOwned()).toEqual([]);
  });

  it('that a service does not start without are secrets, or the chart’s own', () => {
    const needed = components.flatMap((component) => {
      const { plain } = componentSettings(component);
      return settingsOfComponents[component]
        .filter(({ name, required }) => required && plain.includes(name))
        .map(({ name }) => `${component}: ${name}`);
    });
    expect(needed).toEqual([]);
  });

  it('reach the containers, and secrets only those that have them', () => {
    const objects = renderObjects({ values: own });
    for (const component of ['gateway', 'control-plane', 'data-service'] as const) {
      const { owned } = componentSettings(component);
      const find = (kind: RegExp) =>
        objects.find(
          (object) => kind.test(object.kind) && object.metadata.name === `sluice-${component}`,
        );
      const config = find(/^ConfigMap$/)?.data as Record<string, string>;
      const workload = find(/^(Deployment|StatefulSet)$/);
      if (workload === undefined) throw new Error(`there is no ${component}`);
      const [container] = workload.spec.template.spec.containers;
      const variables = (container.env as { name: string }[]).map(({ name }) => name);
      const set = new Set([...Object.keys(config), ...variables]);
      // Kubernetes' own, the trial's, the client's half that defaults to the server's, and a store that is elsewhere.
      const left = new Set([
        'KUBERNETES_SERVICE_HOST',
        'DEMO_UPSTREAM_URL',
        'TLS_CERT',
        'TLS_KEY',
        'TLS_CA',
        'CLICKHOUSE_DATA_DIR',
      ]);
      expect(Object.keys(owned).filter((name) => !set.has(name) && !left.has(name))).toEqual([]);
      const known = new Set(settingsOfComponents[component].map(({ name }) => name));
      expect([...set].filter((name) => !known.has(name))).toEqual([]);
    }
  });

  it('are read under the keys that are named, also of a Secret that has several', () => {
    const { text } = render(valueSets['one Secret, keys of our own'] ?? {});
    const keyOf = (name: string) =>
      new RegExp(`name: ${name}\\s+valueFrom:\\s+secretKeyRef:\\s+key: (\\S+)`).exec(text)?.[1];
    const names = ['DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL'];
    expect(names.map(keyOf)).toEqual(['uri', 'url', 'CLICKHOUSE_URL']);
  });

  it('that a rotation needs stand beside the keys that were made, where no other Secret is named', () => {
    const stores = { postgres: { existingSecret: 'pg' }, clickhouse: { existingSecret: 'ch' } };
    const secretOf = (secrets: object, setting: string) => {
      const objects = renderObjects({ values: { stores, secrets } });
      const pod = objects.find(
        ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'sluice-control-plane',
      )?.spec.template.spec;
      const found = pod.containers[0].env.find(({ name }: Variable) => name === setting);
      return found?.valueFrom.secretKeyRef.name;
    };
    const names = ['MASTER_KEY', 'MASTER_KEY_ALSO'];
    const of = (secrets: object) => names.map((name) => secretOf(secrets, name));
    expect(of({ generate: true })).toEqual(['sluice-keys', 'sluice-keys']);
    expect(of({ generate: true, existingSecret: 'mine' })).toEqual(['sluice-keys', 'mine']);
    expect(of({ existingSecret: 'mine' })).toEqual(['mine', 'mine']);
  });

  it('come from where the user’s own variables say, each once', () => {
    const other = { valueFrom: { secretKeyRef: { name: 'other', key: 'of-mine' } } };
    const extraEnv = [
      { name: 'HTTPS_PROXY', ...other },
      { name: 'DATABASE_URL', ...other },
    ];
    const set = { values: { ...own, gateway: { extraEnv }, migrations: { extraEnv } } };
    const pods = podsOf(renderObjects(set)).filter(({ metadata }) =>
      ['gateway', 'migrations'].includes(metadata.labels['app.kubernetes.io/component']),
    );
    expect(pods).toHaveLength(2);
    for (const { spec } of pods)
      for (const { env } of [...spec.containers, ...(spec.initContainers ?? [])])
        for (const entry of extraEnv)
          expect(env.filter(({ name }: Variable) => name === entry.name)).toEqual([entry]);
  });

  it('are taken of a chart that has this one as a part', () => {
    expect(render(valueSets['a part of another chart'] ?? {})).toMatchObject({
      ok: true,
      text: expect.stringContaining('image: localhost:5000/sluice/gateway:'),
    });
  });
});

describe('what containers are told', () => {
  /** As Kubernetes sets it: the ConfigMap, and each secret with a value of its kind. */
  function environmentOf(objects: readonly KubernetesObject[], component: ServiceName) {
    const described = new Map(settingsOfComponents[component].map((each) => [each.name, each]));
    const named = objects.filter(({ metadata }) => metadata.name === `sluice-${component}`);
    const workload = named.find(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
    const variables = workload?.spec.template.spec.containers[0].env as Variable[];
    const secrets = variables
      .filter(({ valueFrom }) => valueFrom?.secretKeyRef?.optional !== true)
      .map(({ name }) => [name, sampleOf(described.get(name))]);
    return {
      ...named.find(({ kind }) => kind === 'ConfigMap')?.data,
      ...Object.fromEntries(secrets),
    };
  }

  it.each(Object.entries({ ...profiles, ...told }))('starts the services: %s', (_name, set) => {
    const objects = renderObjects(set);
    for (const component of ['gateway', 'control-plane', 'data-service'] as const)
      expect(() =>
        settingsOfServices[component]?.readEnv(environmentOf(objects, component)),
      ).not.toThrow();
  });
});

describe('addresses of services', () => {
  it('have a port that their Service has, in every profile', () => {
    const balanced = valueSets['a load balancer'] ?? {};
    for (const [name, set] of Object.entries({ ...profiles, balanced })) {
      const objects = renderObjects(set);
      const ports = new Map(
        objects
          .filter(({ kind }) => kind === 'Service')
          .map(({ metadata, spec }) => [`${metadata.name}.ai.svc`, portsOf(spec.ports)]),
      );
      const named = objects
        .filter(({ kind }) => kind === 'ConfigMap')
        .flatMap(({ data }) => Object.entries(data as Record<string, string>))
        .flatMap(([setting, value]) => {
          const [, host = '', port] = /^(?:https?:\/\/)?([^/:]+\.ai\.svc):(\d+)$/.exec(value) ?? [];
          return port === undefined ? [] : [{ setting, host, port: Number(port) }];
        });
      expect(named.map(({ setting }) => setting)).toContain('GATEWAY_URL');
      for (const { setting, host, port } of named)
        expect(ports.get(host), `${name}: ${setting}`).toContain(port);
    }
  });
});

function portsOf(ports: readonly { readonly port: number }[]): number[] {
  return ports.map(({ port }) => port);
}

const told = Object.fromEntries(
  ['settings of all kinds', 'no TLS', 'NATS and Redis', 'callers who speak gRPC'].map((name) => [
    name,
    valueSets[name] ?? {},
  ]),
);

type ServiceName = 'gateway' | 'control-plane' | 'data-service';

interface Variable {
  readonly name: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly optional?: boolean } };
}

function sampleOf(setting: DescribedSetting | undefined): string {
  if (setting?.name === 'DATABASE_URL') return 'postgres://user:password@store:5432/db';
  if (setting?.kind === 'bytes') return 'ab'.repeat(setting.size ?? 0);
  return setting?.kind === 'url' ? 'https://user:password@store:8443/db' : 'a-text-of-some-length';
}

describe('pods', () => {
  it('keep to the restricted standard, in every profile', () => {
    for (const set of Object.values(profiles))
      for (const { metadata, spec } of podsOf(renderObjects(set))) {
        const where = metadata.labels['app.kubernetes.io/component'];
        expect(spec.securityContext, where).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(spec.hostNetwork ?? spec.hostPID ?? spec.hostIPC, where).toBeUndefined();
        for (const container of [...spec.containers, ...(spec.initContainers ?? [])])
          expect(container.securityContext, where).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
      }
  });

  it('have the time that their service takes to end, in every profile', () => {
    const drain = { shutdownDelaySeconds: 0, drainSeconds: 0 };
    const undrained = { values: { ...own, gateway: { drain } } };
    for (const [name, set] of Object.entries({ ...profiles, undrained })) {
      const objects = renderObjects(set);
      for (const component of ['gateway', 'control-plane', 'data-service'] as const) {
        const named = objects.filter(({ metadata }) => metadata.name === `sluice-${component}`);
        const config = named.find(({ kind }) => kind === 'ConfigMap')?.data;
        const workload = named.find(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
        const graceSeconds = workload?.spec.template.spec.terminationGracePeriodSeconds as number;
        const env = {
          SHUTDOWN_DELAY: Number(config?.SHUTDOWN_DELAY),
          DRAIN_TIMEOUT: Number(config?.DRAIN_TIMEOUT),
        };
        expect(graceSeconds * 1000, `${name}: ${component}`).toBeGreaterThanOrEqual(graceMs(env));
      }
    }
  });

  it('have no user of their own on OpenShift', () => {
    for (const { spec } of podsOf(renderObjects(profiles.openshift ?? {})))
      expect(Object.keys(spec.securityContext)).toEqual(['runAsNonRoot', 'seccompProfile']);
  });
});

describe('a route below a prefix', () => {
  it('takes the prefix away', () => {
    const routeOf = (name: string) =>
      renderObjects(valueSets[name] ?? {}).find(({ kind }) => kind === 'HTTPRoute')?.spec.rules[0];
    expect(routeOf('Gateway API')).not.toHaveProperty('filters');
    expect(routeOf('Gateway API below a prefix')).toMatchObject({
      matches: [{ path: { type: 'PathPrefix', value: '/ai' } }],
      filters: [
        {
          type: 'URLRewrite',
          urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
        },
      ],
    });
  });
});

describe('pages', () => {
  it.each(['README', 'openshift'])('docs/deploy/%s.md tells commands that Helm takes', (name) => {
    const commands = read(`docs/deploy/${name}.md`)
      .replaceAll('\\\n', ' ')
      .split('\n')
      .filter((line) => line.startsWith('helm install '));
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      const args = command.replace('helm install', 'template').replace(' --wait', '').split(/ +/);
      const { status, stderr } = spawnSync(helm(), args, { cwd: root, encoding: 'utf8' });
      expect(stderr).toBe('');
      expect(status).toBe(0);
    }
  });
});

interface PodTemplate {
  // biome-ignore lint/suspicious/noExplicitAny: as rendered; its schema is checked above
  readonly [field: string]: any;
}

/** What each workload makes its pods of. */
function podsOf(objects: readonly KubernetesObject[]): PodTemplate[] {
  return objects.flatMap((object): PodTemplate[] => {
    if (object.kind === 'Pod') return [object];
    const template = object.spec?.jobTemplate?.spec.template ?? object.spec?.template;
    return template?.spec?.containers === undefined ? [] : [template];
  });
}

describe('NetworkPolicies', () => {
  it('let through what docs/architecture.md draws, and nothing else', () => {
    const drawn = tableBelow(read('docs/architecture.md'), 'Who speaks to whom').flatMap(
      ([from, to, ports = '']) => ports.split(', ').map((port) => `${from} -> ${to}:${port}`),
    );
    const allowed = networkTable().map(({ from, to, port }) => `${from} -> ${to}:${port}`);
    expect(allowed.sort()).toEqual(drawn.sort());
  });

  it('are drawn in docs/deploy/kubernetes.md as they are: npm run chart -- --write', () => {
    expect(read('docs/deploy/kubernetes.md')).toContain(flowsPicture());
  });

  it.each([
    ['grpc', 8789, 'callers who speak gRPC', { GRPC_ENABLED: 'true', GRPC_PORT: '8789' }],
    ['mcp', 8788, 'MCP on a port of its own', { GRPC_ENABLED: 'false', MCP_PORT: '8788' }],
  ])('open the port of %s to the same callers, and change nothing else', (name, own, set, told) => {
    const objects = renderObjects(valueSets[set] ?? {});
    const find = (wanted: RegExp) =>
      objects.find(({ kind, metadata }) => wanted.test(kind) && metadata.name === 'sluice-gateway');
    const [http, data, scraped, further] = find(/^NetworkPolicy$/)?.spec.ingress ?? [];
    expect([http, data, scraped, further].map((rule) => rule?.ports[0].port)).toContain(own);
    const at = (port: number) =>
      [http, data, scraped, further].find((rule) => rule?.ports[0].port === port)?.from;
    expect(at(own)).toEqual(at(8787));
    expect(find(/^Service$/)?.spec.ports).toMatchObject([
      { name: 'http' },
      { name, port: own, targetPort: name },
    ]);
    const [container] = find(/^StatefulSet$/)?.spec.template.spec.containers ?? [];
    expect(container.ports).toContainEqual(expect.objectContaining({ name, containerPort: own }));
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(container[probe].httpGet.port).toBe('http');
    expect(find(/^ConfigMap$/)?.data).toMatchObject(told);
    expect(find(/^HorizontalPodAutoscaler$/)).toBeUndefined();
  });

  it('let out to the object store whoever has one, and nobody else', () => {
    const world = expect.objectContaining({
      ipBlock: expect.objectContaining({ cidr: '0.0.0.0/0' }),
    });
    const letsOut = (values: object) =>
      renderObjects({ values: { ...own, ...values } })
        .filter(({ kind, spec }) => {
          const rules = (spec?.egress ?? []) as { to?: unknown[] }[];
          return (
            kind === 'NetworkPolicy' && rules.some(({ to }) => world.asymmetricMatch(to?.at?.(0)))
          );
        })
        .map(({ metadata }) => metadata.name);
    const beyondProviders = ['sluice-control-plane', 'sluice-gateway'];
    expect(letsOut({}).sort()).toEqual(beyondProviders);
    expect(letsOut({ settings: { LOG_STORE: 'local' } }).sort()).toEqual(beyondProviders);
    const all = [...beyondProviders, 'sluice-data-service'].sort();
    expect(letsOut({ settings: { LOG_STORE: 's3' } }).sort()).toEqual(all);
    expect(letsOut({ dataService: { settings: { LOG_STORE: 's3' } } }).sort()).toEqual(all);
  });

  it('let all ask DNS, also of a cache on the node, and on GKE of its metadata server', () => {
    const node = { ipBlock: { cidr: '169.254.20.10/32' } };
    const metadata = { ipBlock: { cidr: '169.254.169.254/32' } };
    const asked = (set: ValueSet) =>
      renderObjects(set)
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map(({ spec }) => {
          const rules = spec.egress as { to?: unknown[]; ports: { port: number }[] }[];
          return rules.find(({ ports }) => ports[0]?.port === 53)?.to;
        });
    for (const to of asked({ values: own })) expect(to).toContainEqual(node);
    for (const to of asked(profiles.gke ?? {}))
      expect(to).toEqual(expect.arrayContaining([node, metadata]));
  });

  it('leave no pod of the release alone', () => {
    const objects = renderObjects(profiles.trial ?? {});
    const selected = new Set(
      objects
        .filter(({ kind }) => kind === 'NetworkPolicy')
        .map(({ spec }) => spec.podSelector.matchLabels['app.kubernetes.io/component']),
    );
    const workloads = objects.filter(({ kind }) =>
      /^(Deployment|StatefulSet|Job|CronJob|Pod)$/.test(kind),
    );
    for (const { metadata } of workloads)
      expect(selected).toContain(metadata.labels?.['app.kubernetes.io/component']);
  });
});
