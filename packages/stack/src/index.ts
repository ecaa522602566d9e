/**
 * Runs the parts of Sluice as processes on one machine: `npm start` and the
 * tests use the same code. It starts, watches, restarts and stops; what the
 * parts do is theirs. Start reading at `sluice.ts`; `supervise.ts` keeps one
 * process running, `managed-process.ts` starts one.
 */

export { createInstallation } from './create-installation.ts';
export { leftoverServer } from './leftover-server.ts';
export {
  baseEnvironment,
  type ManagedProcess,
  type ProcessExit,
  type ProcessSpec,
  startProcess,
} from './managed-process.ts';
export { freePort, isPortFree, portsOfProcess } from './ports.ts';
export {
  installedPostgres,
  type PostgresSettings,
  postgresSpec,
  postgresUrl,
  throwawayPostgres,
} from './postgres-settings.ts';
export {
  quietFlags,
  type ServiceName,
  type ServiceProcess,
  serviceProcesses,
} from './service-processes.ts';
export {
  demoUpstreamSpec,
  type PartName,
  type Sluice,
  type SluiceOptions,
  startSluice,
} from './sluice.ts';
export {
  freePorts,
  gatewayPortDefault,
  gatewayPortMax,
  portsFrom,
  type SluicePorts,
} from './sluice-ports.ts';
export {
  createSecrets,
  type SluiceCredentials,
  type SluiceSecrets,
  serviceEnvironments,
} from './sluice-settings.ts';
export {
  type Supervised,
  type SupervisionEvent,
  type SupervisionOptions,
  supervise,
} from './supervise.ts';
