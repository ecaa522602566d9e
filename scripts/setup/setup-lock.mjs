/** One set-up at a time: a file that holds the pid of whoever works. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const waitMsMax = 15 * 60_000;

/** Waits for the lock and returns what releases it. A lock whose owner is gone is taken over. */
export async function acquireSetupLock(path, say) {
  const deadline = Date.now() + waitMsMax;
  for (let turn = 0; ; turn += 1) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
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
    if (owner !== undefined && !isAlive(owner)) rmSync(path, { force: true });
    else if (Date.now() > deadline)
      throw new Error(
        `Another set-up (process ${owner}) has not ended. Delete ${path} if it is gone.`,
      );
    else {
      if (turn === 0) say(`Another set-up is running (process ${owner}); waiting for it.`);
      await delay(200);
    }
  }
}

function ownerOf(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    // Released between our two looks.
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
