import { join, resolve } from 'node:path';
import { createInstallation } from './create-installation.ts';
import { gatewayConnected } from './gateway-connected.ts';
import { baseEnvironment, type ProcessSpec } from './managed-process.ts';
import { migrateDatabase } from './migrate-database.ts';
import {
  installedPostgres,
  type PostgresSettings,
  postgresSpec,
  postgresUrl,
} from './postgres-settings.ts';
import { type ServiceName, serviceProcesses } from './service-processes.ts';
import type { SluicePorts } from './sluice-ports.ts';
import {
  machineDefaults,
  reachable,
  type SluiceCredentials,
  type SluiceSecrets,
  serviceEnvironments,
} from './sluice-settings.ts';
import { type Supervised, type SupervisionEvent, supervise } from './supervise.ts';

/** `gateway-2` and so on for further replicas. */
export type PartName =
  | 'postgres'
  | 'data-service'
  | 'demo-upstream'
  | 'control-plane'
  | `gateway${'' | `-${number}`}`;

export interface SluiceOptions {
  dataDir: string;
  ports: SluicePorts;
  secrets: SluiceSecrets;
  /** Whether a part that crashes is started again by itself. */
  restart: boolean;
  /** Of an earlier start; without them the first organisation is created. */
  credentials?: SluiceCredentials;
  /** Called as soon as they exist, before anything else can fail: they are shown only once. */
  onCredentials?: (credentials: SluiceCredentials) => void;
  /** The database is of this release already: the step that brings it there is left out. */
  isMigrated?: boolean;
  /** Where gateways listen; without it on this machine only, as all other parts do. */
  host?: string;
  /** A Postgres of one's own; without it the embedded one runs. */
  databaseUrl?: string | undefined;
  natsUrl?: string | undefined;
  redisUrl?: string | undefined;
  clickhouseUrl?: string | undefined;
  /** A demo upstream that runs already; without it one is a part. */
  demoUpstreamUrl?: string;
  /** Where Node keeps compiled sources from one start to the next. */
  compileCacheDir?: string;
  /** Built services to run instead of their sources; see scripts/build.ts. */
  builtServices?: Partial<Record<ServiceName, string>>;
  /** The same for one part, before these: while it is upgraded. */
  builtParts?: Partial<Record<PartName, string>>;
  /** Ports of further gateways beside the first. */
  moreGatewayPorts?: readonly number[];
  /** Variables for every part, overridden by the stack's own: a person's settings. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Variables for one part, which override all others. */
  partEnvironment?: Partial<Record<PartName, Record<string, string | undefined>>>;
  /** Runs a service some other way than as a process of its own; undefined = as one. */
  runService?: (service: ServiceName, spec: ProcessSpec) => Supervised | undefined;
  onEvent?: (event: SupervisionEvent) => void;
  /** Gives the sink for what a part writes. */
  openLog?: (part: PartName) => (chunk: Buffer) => void;
}

export interface Sluice {
  readonly credentials: SluiceCredentials;
  readonly databaseUrl: string;
  /** In the order in which they stop. */
  readonly parts: ReadonlyMap<PartName, Supervised>;
  /** Gateways first, so that their requests end and their records leave; stores last. */
  stop(): Promise<void>;
}

const root = resolve(import.meta.dirname, '../../..');

/** The demo upstream as a process, for whoever runs it apart from the rest. */
export function demoUpstreamSpec(env: ProcessSpec['env']): Omit<ProcessSpec, 'name'> {
  return { entry: join(root, 'packages/demo-upstream/src/main.ts'), env };
}

/** Starts every part, in parallel where one does not need the other, and resolves when all are ready. */
export async function startSluice(options: SluiceOptions, signal?: AbortSignal): Promise<Sluice> {
  const postgres =
    options.databaseUrl === undefined
      ? installedPostgres({ ...options, port: options.ports.postgres })
      : undefined;
  const databaseUrl = options.databaseUrl ?? postgresUrl(postgres as PostgresSettings);
  const environments = serviceEnvironments({ ...options, databaseUrl });
  const parts = new Map<PartName, Supervised>();
  const halted = new AbortController();

  /** @param service  which of the three it is; undefined = none, and `entry` says what */
  function add(
    name: PartName,
    spec: Omit<ProcessSpec, 'name' | 'onOutput' | 'entry'> & { entry?: string },
    service?: ServiceName,
  ): Supervised {
    const whole: ProcessSpec = {
      ...spec,
      name,
      onOutput: options.openLog?.(name),
      // As they are when it starts: who upgrades or sets something else starts it again.
      get entry() {
        return service === undefined ? (spec.entry ?? '') : entryOf(service, name);
      },
      get env() {
        return {
          ...machineDefaults({ ...options.environment, ...options.partEnvironment?.[name] }),
          ...options.environment,
          ...baseEnvironment(),
          NODE_COMPILE_CACHE: options.compileCacheDir,
          ...spec.env,
          ...options.partEnvironment?.[name],
        };
      },
    };
    const other = service === undefined ? undefined : options.runService?.(service, whole);
    const part = other ?? supervise(whole, options);
    parts.set(name, part);
    return part;
  }

  const entryOf = (service: ServiceName, name: PartName): string =>
    options.builtParts?.[name] ??
    options.builtServices?.[service] ??
    join(root, 'services', service, 'src/main.ts');
  const processOf = (service: ServiceName, env: ProcessSpec['env']) => ({
    nodeFlags: serviceProcesses[service].nodeFlags,
    env: { ...serviceProcesses[service].env, ...env },
  });
  const gatewayPorts = [options.ports.gateway, ...(options.moreGatewayPorts ?? [])];
  const gateways = gatewayPorts.map((port, index) =>
    add(
      index === 0 ? 'gateway' : `gateway-${index + 1}`,
      processOf('gateway', environments.gateway(index, port)),
      'gateway',
    ),
  );
  const controlPlane = add(
    'control-plane',
    processOf('control-plane', environments.controlPlane),
    'control-plane',
  );
  const dataService = add(
    'data-service',
    processOf('data-service', environments.dataService),
    'data-service',
  );
  const demoUpstream =
    options.demoUpstreamUrl === undefined
      ? add('demo-upstream', demoUpstreamSpec(environments.demoUpstream))
      : undefined;
  const store = postgres === undefined ? undefined : add('postgres', postgresSpec(postgres));

  async function stop(): Promise<void> {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await Promise.all([controlPlane.stop(), dataService.stop(), demoUpstream?.stop()]);
    await store?.stop();
  }

  async function prepareControlPlane(): Promise<SluiceCredentials> {
    await store?.start();
    halted.signal.throwIfAborted();
    const credentials = await currentCredentials();
    options.onCredentials?.(credentials);
    halted.signal.throwIfAborted();
    // It waits for what the step brings.
    await Promise.all([controlPlane.start(), migrate()]);
    return credentials;
  }

  async function migrate(): Promise<void> {
    if (options.isMigrated === true) return;
    await migrateDatabase({
      ...baseEnvironment(),
      NODE_COMPILE_CACHE: options.compileCacheDir,
      DATABASE_URL: databaseUrl,
      CLICKHOUSE_URL: options.clickhouseUrl,
      NATS_URL: options.natsUrl,
    });
  }

  /** Those of an earlier start, brought up to date when the ports have changed; else new ones. */
  async function currentCredentials(): Promise<SluiceCredentials> {
    const baseUrl = `http://${reachable(options.host)}:${options.ports.gateway}/v1`;
    if (options.credentials?.base_url === baseUrl) return options.credentials;
    const env = {
      ...machineDefaults({ ...options.environment }),
      ...options.environment,
      ...baseEnvironment(),
      NODE_COMPILE_CACHE: options.compileCacheDir,
      ...environments.controlPlane,
      ...options.partEnvironment?.['control-plane'],
    };
    const created = await createInstallation(env, options.builtServices?.['control-plane']);
    const known = created ?? options.credentials;
    if (known === undefined)
      throw new Error(
        'The database has an organisation, but its first keys are not known here: credentials.json is gone. Put it back, or start anew with --reset, which deletes the data.',
      );
    return { ...known, base_url: baseUrl };
  }

  const halt = (): void => {
    halted.abort();
    void stop();
  };
  signal?.addEventListener('abort', halt, { once: true });
  const starting = [
    prepareControlPlane(),
    dataService.start(),
    demoUpstream?.start(),
    ...gateways.map((gateway) => gateway.start()),
  ] as const;
  try {
    const [credentials] = await Promise.all(starting);
    await Promise.all(
      gatewayPorts.map((port) => gatewayConnected(reachable(options.host), port, halted.signal)),
    );
    signal?.throwIfAborted();
    return { credentials, databaseUrl, parts, stop };
  } catch (error) {
    halted.abort();
    await stop();
    // Whoever was between two steps has seen the abort by now and starts nothing more.
    await Promise.allSettled(starting);
    await stop();
    throw error;
  } finally {
    signal?.removeEventListener('abort', halt);
  }
}
