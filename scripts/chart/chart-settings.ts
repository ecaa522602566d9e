/**
 * What of the services' settings the chart sets itself, what may stand in
 * values, and what only in Secrets: made of their `settings.ts`, so that a
 * setting without a place here fails a test.
 */
import type { DescribedSetting } from '@sluice/env';
import { settingsOfServices } from '../docs/settings-page.ts';
import { migrateSettings } from '../migrate-settings.ts';

export type ChartComponent = 'gateway' | 'control-plane' | 'data-service' | 'migrations';

/** As values call them. */
export const valuesKeys: Readonly<Record<ChartComponent, string>> = {
  gateway: 'gateway',
  'control-plane': 'controlPlane',
  'data-service': 'dataService',
  migrations: 'migrations',
};

/** What each is told by the chart, and where a person says it instead; the sentence goes on after "is set by the chart:". */
const owned: Readonly<Record<string, string>> = {
  HOST: 'listenAddress says where all ports listen',
  PORT: 'ports of containers are fixed, gateway.service.port is the one that callers see',
  GRPC_ENABLED: 'gateway.grpc.enabled says it',
  GRPC_PORT: 'ports of containers are fixed',
  MCP_PORT: 'gateway.mcpPort.enabled says it',
  METRICS_PORT: 'ports of containers are fixed',
  SHUTDOWN_DELAY: 'drain.shutdownDelaySeconds of the service says it, and the grace period follows',
  DRAIN_TIMEOUT: 'drain.drainSeconds of the service says it, and the grace period follows',
  DATA_DIR: 'it is the volume of gateway.persistence, or scratch space',
  REPLICA_ID: 'it is the name of the pod',
  CLICKHOUSE_DATA_DIR: 'the ledger is in a ClickHouse of yours, by CLICKHOUSE_URL',
  CONTROL_PLANE_GRPC_URL: 'services know each other by their Service',
  CONTROL_PLANE_URL: 'services know each other by their Service',
  DATA_SERVICE_GRPC_URL: 'services know each other by their Service',
  GRPC_ALLOW_INSECURE: 'tls.mode says it',
  HTTP_TLS_ENABLED:
    'tls.mode says it for the control plane; TLS of callers ends before the gateway',
  TLS_CERT_PATH: 'tls.mode says where certificates come from',
  TLS_KEY_PATH: 'tls.mode says where certificates come from',
  TLS_CA_PATH: 'tls.mode says where certificates come from',
  TLS_CERT: 'tls.mode says where certificates come from',
  TLS_KEY: 'tls.mode says where certificates come from',
  TLS_CA: 'tls.mode says where certificates come from',
  KUBERNETES_SERVICE_HOST: 'Kubernetes sets it',
  DEMO_UPSTREAM_URL: 'trial.demoUpstreamUrl says it',
};

/** Every setting of every part that the chart starts. */
export const settingsOfComponents: Readonly<Record<ChartComponent, readonly DescribedSetting[]>> = {
  gateway: describedOf('gateway'),
  'control-plane': describedOf('control-plane'),
  'data-service': describedOf('data-service'),
  migrations: migrateSettings.described,
};

function describedOf(service: string): readonly DescribedSetting[] {
  const settings = settingsOfServices[service];
  if (settings === undefined) throw new Error(`there is no service ${service}`);
  return settings.described;
}

/** How the chart sees one service's settings. */
export interface ComponentSettings {
  /** May stand in values. */
  readonly plain: readonly string[];
  /** Only in Secrets. */
  readonly secrets: readonly string[];
  /** The chart's own, with the reason. */
  readonly owned: Readonly<Record<string, string>>;
}

export function componentSettings(component: ChartComponent): ComponentSettings {
  const described = settingsOfComponents[component];
  const names = (wanted: (setting: DescribedSetting) => boolean) =>
    described.filter(wanted).map(({ name }) => name);
  const isOwned = ({ name }: DescribedSetting) => owned[name] !== undefined;
  return {
    plain: names((setting) => !setting.secret && !isOwned(setting)),
    secrets: names((setting) => setting.secret && !isOwned(setting)),
    owned: Object.fromEntries(names(isOwned).map((name) => [name, owned[name] ?? ''])),
  };
}

/** Of `owned`, what no service has any more. */
export function unusedOwned(): string[] {
  const all = new Set(
    Object.values(settingsOfComponents).flatMap((each) => each.map(({ name }) => name)),
  );
  return Object.keys(owned).filter((name) => !all.has(name));
}

/** deploy/chart/sluice/files/settings.json, which the templates read. */
export function chartSettingsFile(): string {
  const components = Object.keys(settingsOfComponents) as ChartComponent[];
  const all = Object.fromEntries(components.map((each) => [each, componentSettings(each)]));
  return `${JSON.stringify(all, null, 2)}\n`;
}
