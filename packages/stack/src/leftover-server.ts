import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The process of a Postgres that still works in this data directory: one whose
 * watcher was killed, or that takes longer to end than its watcher had.
 */
export function leftoverServer(dataDir: string): number | undefined {
  let pid: number;
  try {
    pid = Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
  return isPostgresOf(dataDir, pid) ? pid : undefined;
}

/** Pids are reused: the pid counts only when its process works in this data directory. */
function isPostgresOf(dataDir: string, pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 1) return false;
  try {
    readFileSync('/proc/self/cmdline');
  } catch {
    return isAlive(pid);
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(dataDir);
  } catch {
    // No such process.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
