import { spawn } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { quietFlags } from './service-processes.ts';
import type { SluiceCredentials } from './sluice-settings.ts';

const source = resolve(import.meta.dirname, '../../../services/control-plane/src/bootstrap.ts');
const timeoutMs = 60_000;
const followParent = pathToFileURL(`${import.meta.dirname}/follow-parent.mjs`).href;

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
  const argv = [...quietFlags, '--import', followParent, entry];
  const child = spawn(process.execPath, argv, { env, stdio: 'pipe', detached: true });
  child.stdin.on('error', () => {});
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk.toString('utf8')}`.slice(-8000);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  clearTimeout(timer);
  if (code !== 0) throw new Error(`The first set-up of the control plane failed:\n${errors}`);
  const printed = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Partial<SluiceCredentials>;
  if (printed.admin_key === undefined) return undefined;
  // A caller names a saved provider with an at sign.
  const provider = `@${printed.demo_provider?.replace(/^@/, '') ?? 'demo'}`;
  return { ...(printed as SluiceCredentials), demo_provider: provider };
}
