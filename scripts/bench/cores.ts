import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** What is measured gets one core for itself; everything else shares the other. */
export interface Cores {
  measured: string;
  rest: string;
}

/** `undefined` where processes cannot be pinned: figures then vary more. */
export function findCores(): Cores | undefined {
  if (availableParallelism() < 2) return undefined;
  return spawnSync('taskset', ['-c', '0', 'true']).status === 0
    ? { measured: '0', rest: '1' }
    : undefined;
}

/** The command that runs `command` on a core. */
export function pinned(
  core: string | undefined,
  command: readonly string[],
): readonly [string, ...string[]] {
  const line = core === undefined ? command : ['taskset', '-c', core, ...command];
  return line as unknown as readonly [string, ...string[]];
}

/** Moves a running process, with all its threads, to a core. */
export function pin(pid: number, core: string | undefined): void {
  if (core !== undefined) spawnSync('taskset', ['-a', '-c', '-p', core, String(pid)]);
}
