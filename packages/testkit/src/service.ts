import { baseEnvironment, type ManagedProcess, startProcess } from '@sluice/stack';
import { builtGateway } from './built-gateway.ts';
import { compileCacheDir } from './run-folder.ts';

export type ServiceName = 'gateway' | 'control-plane' | 'data-service';

/**
 * Runs a service as its own process, as in production, and waits for its
 * ready line. It gets the given environment and nothing of the test's own.
 */
export async function startService(
  name: ServiceName,
  env: Record<string, string | undefined>,
): Promise<ManagedProcess> {
  return startProcess({
    name,
    entry:
      name === 'gateway'
        ? await builtGateway()
        : `${import.meta.dirname}/../../../services/${name}/src/main.ts`,
    env: { ...baseEnvironment(), NODE_COMPILE_CACHE: compileCacheDir(), ...env },
  });
}
