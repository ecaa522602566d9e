import {
  baseEnvironment,
  type ManagedProcess,
  type ServiceName,
  startProcess,
} from '@sluice/stack';
import { builtService } from './built-service.ts';

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
