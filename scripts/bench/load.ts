import { HttpConnection, type ReplyFacts } from './http-connection.ts';
import type { Distribution, LoadJob, LoadResult } from './load-job.ts';

/** How long after its time a job waits for replies. */
const unansweredMs = 15_000;

/** The load generator, a process of its own: a child of `main.ts` that takes one job at a time. */
process.on('message', (job: LoadJob) => {
  run(job).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

function run(job: LoadJob): Promise<LoadResult> {
  const url = new URL(job.url);
  const nextRequest = requests(url, job);
  const latencies: number[] = [];
  const firstBytes: number[] = [];
  let started = 0;
  let faults = 0;
  let faultSample: string | undefined;
  const startedAt = performance.now();
  const connections = Array.from(
    { length: job.connections },
    () => new HttpConnection(url.hostname, Number(url.port)),
  );

  return new Promise((resolve) => {
    let inFlight = 0;
    const hangTimer = setTimeout(() => {
      faults += inFlight;
      faultSample ??= `${inFlight} requests got no whole reply`;
      clearInterval(ticking);
      finish();
    }, job.durationMsMax + unansweredMs);
    if (job.cutAfterMs !== undefined) setTimeout(finish, job.cutAfterMs);
    const isOver = () =>
      started >= job.requestsMax || performance.now() - startedAt >= job.durationMsMax;

    function finishWhenQuiet(): void {
      if (inFlight === 0 && isOver() && ticking === undefined) finish();
    }

    let isFinished = false;
    function finish(): void {
      if (isFinished) return;
      isFinished = true;
      clearTimeout(hangTimer);
      const elapsedMs = performance.now() - startedAt;
      const open = connections.filter(
        ({ isReceiving, firstByteAt }) => isReceiving && firstByteAt > 0,
      );
      const cut = open.length;
      const opened = open.map(({ firstByteAt }) => firstByteAt - startedAt);
      for (const connection of connections) connection.close();
      resolve({
        requests: latencies.length,
        faults,
        faultSample,
        elapsedMs,
        cut,
        latencyMs: distribution(latencies),
        firstByteMs: distribution(firstBytes),
        openedMs: distribution(opened),
      });
    }

    function exchange(connection: HttpConnection, dueAt: number, next: () => void): void {
      started += 1;
      inFlight += 1;
      const sentAt = performance.now();
      connection.send(nextRequest(), (reply) => {
        inFlight -= 1;
        const fault = faultOf(reply, job);
        if (fault === undefined) {
          latencies.push(performance.now() - dueAt);
          firstBytes.push((reply as ReplyFacts).firstByteAt - sentAt);
        } else {
          faults += 1;
          faultSample ??= fault;
        }
        next();
      });
    }

    let ticking: NodeJS.Timeout | undefined;
    if (job.requestsPerSecond === undefined) {
      const loop = (connection: HttpConnection): void => {
        if (isOver()) finishWhenQuiet();
        // A refused connection fails at once; without the pause it would be tried in a busy loop.
        else
          exchange(connection, performance.now(), () =>
            faults > 0 ? setTimeout(loop, 5, connection) : loop(connection),
          );
      };
      for (const [index, connection] of connections.entries()) {
        setTimeout(loop, (index * job.rampMs) / connections.length, connection);
      }
      return;
    }

    const rate = job.requestsPerSecond / 1000;
    const idle = [...connections];
    /** When each request without a free connection was due: its waiting counts. */
    const waiting: number[] = [];
    let due = 0;
    const dispatch = (connection: HttpConnection, dueAt: number): void =>
      exchange(connection, dueAt, () => {
        const next = waiting.shift();
        if (next !== undefined) return dispatch(connection, next);
        idle.push(connection);
        finishWhenQuiet();
      });
    ticking = setInterval(() => {
      const now = performance.now();
      if (isOver()) {
        clearInterval(ticking);
        ticking = undefined;
        waiting.length = 0;
        return finishWhenQuiet();
      }
      for (; due < (now - startedAt) * rate; due += 1) {
        const connection = idle.pop();
        // The timer's own lateness is not the gateway's: a request with a free connection is due when it is sent.
        if (connection !== undefined) dispatch(connection, now);
        else waiting.push(now);
      }
    }, 1);
  });
}

/** Made once when all are the same; else only the value that differs is drawn for each. */
function requests(url: URL, job: LoadJob): () => Buffer {
  const { varied } = job;
  if (varied === undefined) {
    const request = requestBytes(url, job);
    return () => request;
  }
  const mark = '\0';
  const headers = { ...job.headers, [varied.name]: varied.before + mark + varied.after };
  const [head, tail] = requestBytes(url, { ...job, headers })
    .toString()
    .split(mark);
  return () => Buffer.from(`${head}${Math.floor(Math.random() * varied.count)}${tail}`);
}

function requestBytes(url: URL, job: LoadJob): Buffer {
  const headers = {
    host: url.host,
    ...(job.body === '' ? {} : { 'content-type': 'application/json' }),
    accept: '*/*',
    ...job.headers,
    ...(job.body === '' ? {} : { 'content-length': Buffer.byteLength(job.body) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `${job.method ?? 'POST'} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n${job.body}`,
  );
}

function faultOf(reply: ReplyFacts | Error, job: LoadJob): string | undefined {
  if (reply instanceof Error) return reply.message;
  if (reply.status !== 200) return `status ${reply.status}: …${reply.tail}`;
  if (reply.bodyBytes < job.replyBytesMin)
    return `only ${reply.bodyBytes} of ${job.replyBytesMin} bytes: …${reply.tail}`;
  return reply.tail.trimEnd().endsWith(job.replyEndsWith)
    ? undefined
    : `the reply ends with ${reply.tail}`;
}

function distribution(values: number[]): Distribution {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
