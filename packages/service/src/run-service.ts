import { closingDeadlines, graceMs, type Settings } from '@sluice/env';
import { createLogger, flushLogger, type Logger } from '@sluice/telemetry';
import type { Part } from './part.ts';
import { type ServiceEnv, startService, type Wire } from './start-service.ts';

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

/**
 * A service as a process: reads its settings, starts, says that it is ready,
 * and ends on SIGTERM or SIGINT, with code 0 when all was closed and 1 when
 * something could not be, or kept it from starting. What nobody has caught is a
 * fault of one request, and ends no others: it is logged. The log is written before the end.
 */
export async function runService<E extends ServiceEnv>(
  options: RunServiceOptions<E>,
): Promise<never> {
  let logger = createLogger({ service: options.name, level: 'info' });
  process.on('unhandledRejection', (error) =>
    logger.error({ err: error }, 'a promise was left unhandled'),
  );
  process.on('uncaughtException', (error) =>
    logger.error({ err: error }, 'an exception was left uncaught'),
  );
  let code = 1;
  let forwarded: ForwardedLog | undefined;
  try {
    const env = options.settings.readEnv(process.env);
    forwarded = options.forwardLog?.(env);
    const { SERVICE_NAME: service, LOG_LEVEL: level } = env;
    logger = createLogger({ service, level, follow: forwarded?.follow });
    const first = forwarded === undefined ? [] : [forwarded.part];
    const wire: Wire<E> = async (...args) => [...first, ...(await options.wire(...args))];
    code = await live(env, wire, logger);
  } catch (error) {
    logger.fatal({ err: error }, 'the service could not start');
  }
  await forwarded?.close(closingDeadlines.logMs);
  return end(logger, code);
}

/** From the start to the end that a signal asks for; resolves with the exit code. */
async function live<E extends ServiceEnv>(env: E, wire: Wire<E>, logger: Logger): Promise<number> {
  const stopping = new AbortController();
  const asked = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (stopping.signal.aborted) return;
        stopping.abort(signal);
        endAtLast(env, logger);
        resolve();
      });
  });
  const service = await startService({ env, logger, wire, stopping: stopping.signal });
  if (!stopping.signal.aborted) {
    logger.info(service.ports, 'ready');
    await asked;
  }
  logger.info({ signal: stopping.signal.reason }, 'stopping');
  try {
    await service.stop();
  } catch (error) {
    logger.error({ err: error }, 'not everything could be closed');
    return 1;
  }
  logger.info('stopped');
  return 0;
}

/** Every part has its deadline; this is for what keeps the deadlines themselves. */
function endAtLast(env: ServiceEnv, logger: Logger): void {
  setTimeout(() => {
    logger.error('the service did not stop in time');
    void end(logger, 1);
  }, graceMs(env) - closingDeadlines.logMs).unref();
}

async function end(logger: Logger, code: number): Promise<never> {
  await flushLogger(logger);
  process.exit(code);
}
