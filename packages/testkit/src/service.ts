import {
  baseEnvironment,
  type ManagedProcess,
  type ServiceName,
  startProcess,
} from '@sluice/stack';
import { builtService } from './built-service.ts';
import { hostService } from './service-host/hosted-service.ts';

/**
 * Runs a service as its own process, as in production, and waits for its
 * ready line. It gets the given environment and nothing of the test's own.
 */
export async function startService(
  name: ServiceName,
  env: Record<string, string | undefined>,
  onOutput?: (chunk: Buffer) => void,
): Promise<ManagedProcess> {
  return startProcess({
    name,
    entry: await builtService(name),
    env: { ...baseEnvironment(), ...env },
    onOutput,
  });
}

/**
 * The same in the host of this worker, which costs a fourth: for tests that do not kill it and do not look at its
 * process. One of them at a time: a host has one embedded engine.
 */
export async function startHostedService(
  name: ServiceName,
  env: Record<string, string | undefined>,
): Promise<Pick<ManagedProcess, 'stderr' | 'stop'>> {
  const hosted = await hostService(
    { name, entry: await builtService(name) },
    { ...baseEnvironment(), ...env },
  );
  return {
    stderr: hosted.log,
    stop: async () => ({ code: await hosted.stop(), signal: null }),
  };
}
