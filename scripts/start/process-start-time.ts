import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** When the process started, in whatever unit the system has, or `undefined` when there is none (or a zombie). */
export function processStartTime(pid: number): string | undefined {
  if (!existsSync('/proc/self/stat')) {
    const result = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    const text = result.stdout?.trim() ?? '';
    return result.status === 0 && text !== '' ? text : undefined;
  }
  try {
    // The second field is the program's name in brackets, which may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
