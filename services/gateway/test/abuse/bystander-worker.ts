import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';

/**
 * The other caller, on a thread of its own: neither the test's work nor its
 * upstreams delay what it sends and what it is answered. Asks the same plain
 * question again and again, and keeps how long each answer took.
 */
export interface BystanderSettings {
  gatewayUrl: string;
  /** Of the gateway's process. */
  pid: number;
  key: string;
  body: string;
  reply: string;
  /** Between an answer and the next question. */
  gapMs: number;
}

export interface BystanderReport {
  /** Since the last report. */
  requests: number;
  /** Of all its waits so far: one that lasted through a stall is not what is usual. */
  medianMs: number;
  /** The longest wait since the last report. */
  longestMs: number;
  /**
   * The longest that the gateway's event loop worked during one wait, since the
   * last report: waiting less than that is the machine's doing when it has other
   * work, waiting so long is the gateway's.
   */
  longestBusyMs: number;
  /** Of all waits so far, as `medianMs`. */
  medianBusyMs: number;
  /** Anything but a 200, newest last, at most ten. */
  faults: string[];
}

const settings = workerData as BystanderSettings;
const upstream = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(settings.reply);
  });
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const { port } = upstream.address() as AddressInfo;

const pool = new Pool(settings.gatewayUrl, { connections: 1, pipelining: 1 });
const headers = {
  'content-type': 'application/json',
  'x-service-api-key': settings.key,
  'x-service-provider': 'openai',
  'x-service-custom-host': `http://127.0.0.1:${port}/v1`,
  authorization: 'Bearer sk-bystander',
};

const waits: number[] = [];
const busy: number[] = [];
let reported = 0;
let faults: string[] = [];
let isOver = false;

/** How long the gateway's main thread, which has the event loop, ran since its start. */
function busyMs(): number {
  const [ranNs] = readFileSync(
    `/proc/${settings.pid}/task/${settings.pid}/schedstat`,
    'utf8',
  ).split(' ');
  return Number(ranNs) / 1e6;
}

async function ask(): Promise<void> {
  const busyBefore = busyMs();
  const startedAt = performance.now();
  try {
    const answer = await pool.request({
      method: 'POST',
      path: '/v1/chat/completions',
      headers,
      body: settings.body,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) faults.push(`${answer.statusCode} ${text.slice(0, 200)}`);
  } catch (error) {
    if (!isOver) faults.push(String(error));
  }
  waits.push(performance.now() - startedAt);
  busy.push(busyMs() - busyBefore);
}

function report(): BystanderReport {
  const told = {
    requests: waits.length - reported,
    medianMs: medianOf(waits),
    longestMs: Math.max(0, ...waits.slice(reported)),
    longestBusyMs: Math.max(0, ...busy.slice(reported)),
    medianBusyMs: medianOf(busy),
    faults: faults.slice(-10),
  };
  reported = waits.length;
  faults = [];
  return told;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

let asking: Promise<void> = Promise.resolve();

parentPort?.on('message', async (message: 'report' | 'stop') => {
  // What is on its way belongs to the time before: a stall shows when it ends.
  await asking;
  if (message === 'report') return parentPort?.postMessage(report());
  isOver = true;
  await pool.destroy();
  upstream.closeAllConnections();
  upstream.close();
  parentPort?.close();
});
parentPort?.postMessage('ready');

while (!isOver) {
  asking = ask();
  await asking;
  await delay(settings.gapMs);
}
