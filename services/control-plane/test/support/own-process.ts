import { freePort, startService } from '@sluice/testkit';
import type { Harness } from './harness.ts';

export interface OwnProcess {
  readonly url: string;
  /** What it wrote. */
  log(): string;
  kill(): Promise<unknown>;
}

/** A control plane of its own process, on the same database and secrets. */
export async function startProcessOf({ env }: Harness): Promise<OwnProcess> {
  const port = await freePort();
  const service = await startService('control-plane', {
    HOST: '127.0.0.1',
    PORT: String(port),
    GRPC_PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: env.DATABASE_URL,
    MASTER_KEY: env.MASTER_KEY.toString('hex'),
    KEY_PEPPER: env.KEY_PEPPER.toString('hex'),
    SERVICE_CLIENT_AUTH: env.SERVICE_CLIENT_AUTH,
    LOG_LEVEL: 'info',
  });
  return {
    url: `http://127.0.0.1:${port}`,
    log: () => service.stderr(),
    kill: () => service.kill(),
  };
}
