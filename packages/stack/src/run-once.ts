import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { quietFlags } from './service-processes.ts';

/** What is run makes an installation, which a machine that is busy or small takes minutes for. */
const usualMs = 300_000;
const followParent = pathToFileURL(`${import.meta.dirname}/follow-parent.mjs`).href;

/**
 * Runs a program of ours to its end, which comes with ours, and gives what it printed.
 * @throws Error with what it wrote to stderr, when it failed, or that it took too long
 */
export async function runOnce(
  what: string,
  entry: string,
  env: Record<string, string | undefined>,
  timeoutMs = usualMs,
): Promise<string> {
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
  const why = code === null ? `${errors}It was ended after ${timeoutMs / 1000} s.` : errors;
  if (code !== 0) throw new Error(`${what} failed:\n${why}`);
  return output;
}
