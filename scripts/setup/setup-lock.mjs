/** One set-up at a time: a file that names the process that works. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const waitMsMax = 15 * 60_000;

/** Waits for the lock and returns what releases it. A lock whose owner is gone is taken over. */
export async function acquireSetupLock(path, say) {
  const deadline = Date.now() + waitMsMax;
  for (let turn = 0; ; turn += 1) {
    try {
      writeFileSync(path, `${process.pid} ${startTime(process.pid)}`, { flag: 'wx' });
      const release = () => rmSync(path, { force: true });
      process.once('exit', release);
      return () => {
        process.removeListener('exit', release);
        release();
      };
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = ownerOf(path);
    if (owner !== undefined && !isRunning(owner)) rmSync(path, { force: true });
    else if (Date.now() > deadline)
      throw new Error(
        `Another set-up (process ${owner?.pid}) has not ended. Delete ${path} if it is gone.`,
      );
    else {
      if (turn === 0) say(`Another set-up is running (process ${owner?.pid}); waiting for it.`);
      await delay(200);
    }
  }
}

function ownerOf(path) {
  try {
    const [pid, started = ''] = readFileSync(path, 'utf8').split(' ');
    return Number(pid) > 0 ? { pid: Number(pid), started } : undefined;
  } catch {
    // Released between our two looks.
    return undefined;
  }
}

/** Pids are small and used again in containers; a pid together with its start is not. */
function isRunning({ pid, started }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  return startTime(pid) === started;
}

/** In whatever unit Linux has; elsewhere nothing, and the pid alone decides. */
function startTime(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')[19];
  } catch {
    return '';
  }
}
