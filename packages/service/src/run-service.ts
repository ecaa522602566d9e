import { setTimeout as delay } from 'node:timers/promises';
import { closingDeadlines, graceMs, misspelt, type Settings, SettingsError } from '@sluice/env';
import { createLogger, flushLogger, type Logger } from '@sluice/telemetry';
import { keepTickShape } from './keep-tick-shape.ts';
import type { Part } from './part.ts';
import {
  aborting,
  type RunningService,
  type ServiceEnv,
  startService,
  type Wire,
} from './start-service.ts';

export interface RunServiceOptions<E extends ServiceEnv> {
  /** For the log, while it is not known what the service is to be called. */
  name: string;
  settings: Settings<E>;
  wire: Wire<E>;
  /** Who else is to have the lines of the log. */
  forwardLog?: (env: E) => ForwardedLog;
}

export interface ForwardedLog {
  /** Undefined = nobody is. */
  readonly follow?: (line: string) => void;
  /** Its gauges. */
  readonly part: Part;
  /** Sends what it holds, and waits no longer than that. */
  close(deadlineMs: number): Promise<void>;
}

/** A service, and who it is told by. */
export interface ServiceLife {
  /** Its settings: those of the process, where it is alone in one. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Where its log goes; stderr unless given. */
  logFd?: number;
  /** Asks it to end; the reason is what the log says. */
  stopping: AbortSignal;
  /** Called once its log is as its settings want it. */
  onLogger?: (logger: Logger) => void;
  /** Called when all its parts run and it listens; it may not be ready yet. */
  onReady?: () => void;
}

/**
 * A service as a process: reads its settings, starts, says that it is ready,
 * and ends on SIGTERM or SIGINT, with code 0 when all was closed and 1 when
 * something could not be, or kept it from starting. What nobody has caught is a
 * fault of one request, and ends no others: it is logged. The log is written before the end.
 */
export async function runService<E extends ServiceEnv>(
  options: RunServiceOptions<E>,
): Promise<never> {
  keepTickShape();
  let logger = createLogger({ service: options.name, level: 'info' });
  process.on('unhandledRejection', (error) =>
    logger.error({ err: error }, 'a promise was left unhandled'),
  );
  process.on('uncaughtException', (error) =>
    logger.error({ err: error }, 'an exception was left uncaught'),
  );
  // Node's own way is two lines that are no JSON.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') logger.warn({ err: warning }, 'Node warns');
  });
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => stopping.abort(signal));
  const code = await liveService(options, {
    environment: process.env,
    stopping: stopping.signal,
    onLogger(given) {
      logger = given;
    },
    // Whoever started it may have opened a channel: its log need not have a line for that.
    onReady: () => void flushLogger(logger).then(() => process.send?.({ started: true }, () => {})),
  });
  process.exit(code);
}

/**
 * The life of a service in this process, from its settings to its end; the log is written by then.
 * @returns the exit code
 */
export async function liveService<E extends ServiceEnv>(
  options: RunServiceOptions<E>,
  life: ServiceLife,
): Promise<number> {
  const { logFd: fd } = life;
  let logger = createLogger({ service: options.name, level: 'info', fd });
  let code = 1;
  let forwarded: ForwardedLog | undefined;
  try {
    const env = options.settings.readEnv(life.environment);
    forwarded = options.forwardLog?.(env);
    const { SERVICE_NAME: service, LOG_LEVEL: level } = env;
    logger = createLogger({ service, level, follow: forwarded?.follow, fd });
    life.onLogger?.(logger);
    warnOfMisspelt(options.settings, life, logger);
    const first = forwarded === undefined ? [] : [forwarded.part];
    const wire: Wire<E> = async (...args) => [...first, ...(await options.wire(...args))];
    code = await live(env, wire, logger, life);
  } catch (error) {
    // What a person wrote is wrong: they need the faults, and no stack.
    if (error instanceof SettingsError) {
      warnOfMisspelt(options.settings, life, logger);
      logger.fatal(
        { faults: error.faults },
        'the settings are not valid: the service does not start',
      );
    } else if (isOfTheSystem(error))
      logger.fatal({ reason: (error as Error).message }, 'the service could not start');
    else logger.fatal({ err: error }, 'the service could not start');
  }
  await forwarded?.close(closingDeadlines.logMs);
  await flushLogger(logger);
  return code;
}

/** As of a port that another process has: it says all there is to know, and no line of ours is at fault. */
function isOfTheSystem(error: unknown): boolean {
  const { syscall, cause } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall !== undefined || (cause !== undefined && isOfTheSystem(cause));
}

/** Names alone: what such a variable holds may be a secret. */
function warnOfMisspelt(
  { described }: Settings<unknown>,
  { environment }: ServiceLife,
  logger: Logger,
): void {
  const variables = misspelt(
    described.map(({ name }) => name),
    environment,
  );
  if (variables.length > 0)
    logger.warn({ variables }, 'variables of the environment are no settings, and almost are');
}

/** From the start to the end that is asked for; resolves with the exit code. */
async function live<E extends ServiceEnv>(
  env: E,
  wire: Wire<E>,
  logger: Logger,
  { stopping, logFd, onReady }: ServiceLife,
): Promise<number> {
  let lastCall: NodeJS.Timeout | undefined;
  const asked = aborting(stopping);
  /** Every part has its deadline; this is for what keeps the deadlines themselves. */
  const late = asked.then(async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    lastCall = setTimeout(resolve, graceMs(env) - closingDeadlines.logMs).unref();
    await promise;
    logger.error('the service did not stop in time');
    return 1;
  });
  const lived = async () => {
    const service = await startService({ env, logger, wire, logFd, stopping });
    if (!stopping.aborted) {
      await saysReady(service, logger, { stopping, onReady });
      await asked;
    }
    logger.info({ signal: stopping.reason }, 'stopping');
    try {
      await service.stop();
    } catch (error) {
      logger.error({ err: error }, 'not everything could be closed');
      return 1;
    }
    logger.info('stopped');
    return 0;
  };
  try {
    return await Promise.race([lived(), late]);
  } finally {
    clearTimeout(lastCall);
  }
}

/** How often a service that listens and is not ready looks whether it is. */
const lookEveryMs = 100;

/** Once it is. What it waits for is said by who waits. */
async function saysReady(
  service: RunningService,
  logger: Logger,
  { stopping, onReady }: Pick<ServiceLife, 'stopping' | 'onReady'>,
): Promise<void> {
  const isReady = service.isReady();
  logger.info(service.ports, isReady ? 'ready' : 'listening, and not ready yet');
  onReady?.();
  if (isReady) return;
  while (!service.isReady()) {
    await delay(lookEveryMs, undefined, { signal: stopping }).catch(() => {});
    if (stopping.aborted) return;
  }
  logger.info(service.ports, 'ready');
}
