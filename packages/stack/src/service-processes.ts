export type ServiceName = 'gateway' | 'control-plane' | 'data-service';

/** How a service's process is started, wherever it runs. */
export interface ServiceProcess {
  /** Of Node and V8. */
  readonly nodeFlags: readonly string[];
  /** Read before the process has begun, by the C library. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * V8's own most is 128 MB of it, which a batch of many lines comes to in minutes, for a few pauses less. Its least is 1 MB, with which
 * what a start makes, and nearly all of it stays, is copied ten times: a tenth of what a start takes (0185).
 */
const smallYoungGeneration = ['--min-semi-space-size=4', '--max-semi-space-size=16'];

/**
 * What is free at the end of glibc's heap, or large, goes back at once. Left alone it takes what is as large as the largest thing that was
 * ever freed from its heap, which then stays as large as the pieces of files that were under way at once. V8 compiles in pieces of 32 kB,
 * some 70 MB of them while a service starts, and those that are among what lives longer would never go back.
 */
const returnsMemory = { MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '32768' };

/**
 * What `npm start`, the benchmark and the images start the services with; the figures of docs/benchmarks.md rest on it.
 *
 * The gateway makes many short-lived objects and keeps few. A cleaning of the
 * young generation takes as long as what survives it needs, whatever its size:
 * with 16 MB there are a quarter of the pauses that there are with 4 MB, and
 * they were the larger part of the tail. Cleaning it with
 * several threads costs more in waking them than it saves. And when V8 takes
 * what lives through a burst for long-lived, and makes it in the old generation
 * from then on, each request costs half as much again until the process ends.
 * The old one is collected when it has grown by 60 %: at 200 % it stands still a
 * quarter as often, but comes to 439 MB under the attacks of `npm run abuse`.
 *
 * Of glibc it has one heap, for the one thread that matters.
 */
export const serviceProcesses: Readonly<Record<ServiceName, ServiceProcess>> = {
  gateway: {
    nodeFlags: [
      ...smallYoungGeneration,
      '--no-parallel-scavenge',
      '--no-allocation-site-pretenuring',
      '--heap-growing-percent=60',
    ],
    env: {
      MALLOC_ARENA_MAX: '1',
      ...returnsMemory,
    },
  },
  'control-plane': { nodeFlags: smallYoungGeneration, env: returnsMemory },
  // Buffers that outlived the young generation lie until the old one is collected, which is soon as here.
  'data-service': {
    nodeFlags: [...smallYoungGeneration, '--heap-growing-percent=60'],
    env: returnsMemory,
  },
};

/** For any process of ours. Node warns about type stripping and the like on stderr; logs stay JSON lines without it. */
export const quietFlags = ['--disable-warning=ExperimentalWarning'] as const;
