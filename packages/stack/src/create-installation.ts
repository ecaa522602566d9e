import { dirname, join, resolve } from 'node:path';
import { runOnce } from './run-once.ts';
import type { SluiceCredentials } from './sluice-settings.ts';

const source = resolve(import.meta.dirname, '../../../services/control-plane/src/bootstrap.ts');

/**
 * Creates the first organisation, workspace and keys by running the control
 * plane's `bootstrap.ts`, which prints one JSON line. Resolves with `undefined`
 * when they exist already: keys are shown only once. A built control plane has
 * the same beside it.
 * @throws Error with what it wrote to stderr.
 */
export async function createInstallation(
  env: Record<string, string | undefined>,
  builtControlPlane?: string,
): Promise<Omit<SluiceCredentials, 'base_url'> | undefined> {
  const entry =
    builtControlPlane === undefined ? source : join(dirname(builtControlPlane), 'bootstrap.mjs');
  const output = await runOnce('The first set-up of the control plane', entry, env);
  const printed = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Partial<SluiceCredentials>;
  if (printed.admin_key === undefined) return undefined;
  // A caller names a saved provider with an at sign.
  const provider = `@${printed.demo_provider?.replace(/^@/, '') ?? 'demo'}`;
  return { ...(printed as SluiceCredentials), demo_provider: provider };
}
