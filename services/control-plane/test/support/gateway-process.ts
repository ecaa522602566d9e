import { freePort, startService, temporaryFolder } from '@sluice/testkit';
import type { ControlPlane, Harness } from './harness.ts';

export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** It hangs from then on, with its connections open. */
  pause(): void;
  resume(): void;
  stop(): Promise<unknown>;
}

/** A gateway that asks this replica, hears of changes from it and forwards admin calls to it. */
export async function startGateway(
  h: Harness,
  replica: ControlPlane,
  settings: Record<string, string> = {},
): Promise<GatewayProcess> {
  const port = await freePort();
  const service = await startService('gateway', {
    HOST: '127.0.0.1',
    PORT: String(port),
    CONTROL_PLANE_GRPC_URL: `127.0.0.1:${replica.grpcPort}`,
    CONTROL_PLANE_URL: `http://127.0.0.1:${replica.httpPort}`,
    // Port 9 is "discard": records wait in the outbox.
    DATA_SERVICE_GRPC_URL: '127.0.0.1:9',
    SERVICE_CLIENT_AUTH: h.env.SERVICE_CLIENT_AUTH,
    KEY_PEPPER: h.env.KEY_PEPPER.toString('hex'),
    SNAPSHOT_KEY: h.env.MASTER_KEY.toString('hex'),
    DATA_DIR: await temporaryFolder('gateway'),
    METRICS_PORT: '0',
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    TRUSTED_CALLER_HOSTS: '127.0.0.1',
    ...settings,
  });
  return {
    url: `http://127.0.0.1:${port}`,
    pid: service.pid,
    pause: () => process.kill(service.pid, 'SIGSTOP'),
    resume: () => process.kill(service.pid, 'SIGCONT'),
    stop: () => service.stop(),
  };
}
