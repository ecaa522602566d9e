import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

const tasks = '/proc/self/task';
/** Of ten parts of a core that both want, the thread that serves gets nine. */
const niceness = 10;

/**
 * V8's helper threads give way to the thread that serves. They mark the old generation beside it, some 200 ms at a
 * time; where the gateway has one core, the system otherwise gives them half of it, and whoever asks meanwhile waits.
 * Linux knows priorities of threads by their ids; elsewhere nothing is done.
 */
export function lowerHelperThreads(): void {
  if (process.platform !== 'linux') return;
  for (const id of readdirSync(tasks)) {
    try {
      const name = readFileSync(`${tasks}/${id}/comm`, 'utf8').trim();
      if (name === 'V8Worker') setPriority(Number(id), niceness);
    } catch {
      // It ended meanwhile, or the system does not allow it: then it is as before.
    }
  }
}
