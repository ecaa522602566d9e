import { Worker } from 'node:worker_threads';

/** Waits of a caller who has nothing to do with the attack, in ms. */
export interface Waits {
  worstMs: number;
  medianMs: number;
  count: number;
}

/**
 * Asks the gateway for its health again and again while work goes on, from a
 * thread of its own: the test's event loop has bodies of its own to make.
 */
export async function waitsDuring(
  gatewayUrl: string,
  work: () => Promise<unknown>,
): Promise<Waits> {
  const worker = new Worker(probe, { eval: true, workerData: { url: `${gatewayUrl}/health` } });
  const waits = new Promise<number[]>((resolve, reject) => {
    worker.on('message', (message) => {
      if (Array.isArray(message)) resolve(message);
    });
    worker.once('error', reject);
  });
  await new Promise((resolve) => worker.once('message', resolve));
  try {
    await work();
  } finally {
    worker.postMessage('stop');
  }
  const sorted = (await waits).sort((a, b) => a - b);
  await worker.terminate();
  return {
    worstMs: sorted.at(-1) ?? 0,
    medianMs: sorted[sorted.length >> 1] ?? 0,
    count: sorted.length,
  };
}

const probe = `
const { parentPort, workerData } = require('node:worker_threads');
const { Agent, get } = require('node:http');
const agent = new Agent({ keepAlive: true });
const waits = [];
let isOver = false;
parentPort.on('message', () => { isOver = true; });
const ask = () => new Promise((resolve, reject) => {
  const startedAt = performance.now();
  get(workerData.url, { agent }, (res) => {
    res.resume();
    res.on('end', () => { waits.push(performance.now() - startedAt); resolve(); });
  }).on('error', reject);
});
(async () => {
  for (let warm = 0; warm < 20; warm++) await ask();
  waits.length = 0;
  parentPort.postMessage('ready');
  while (!isOver) {
    await ask();
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
  agent.destroy();
  parentPort.postMessage(waits);
})();
`;
