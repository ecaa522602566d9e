import { setTimeout as pause } from 'node:timers/promises';

/** The longest that a harmless request took while the work went on, in ms. */
export async function longestWaitDuring(
  work: () => Promise<unknown>,
  harmless: () => Promise<Response>,
): Promise<number> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  const attack = work();
  // Its fault is reported below, once the other side has been heard.
  attack.then(over, over);
  let longestMs = 0;
  do {
    const startedAt = performance.now();
    const response = await harmless();
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`a harmless request was answered ${response.status}`);
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    await pause(5);
  } while (!isOver);
  await attack;
  return longestMs;
}
