import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Paths whose values never reach a log line, whatever logs them. */
const redactedPaths = [
  'authorization',
  'api_key',
  'headers.authorization',
  'headers["x-api-key"]',
  'headers["x-service-api-key"]',
  'headers.cookie',
  '*.authorization',
  '*.api_key',
  '*.password',
  '*.secret',
];

/**
 * One JSON line an event, on stderr: stdout belongs to what a command prints
 * for its user. Messages are constant sentences, variables are fields.
 */
export function createLogger(options: {
  service: string;
  level: string;
  /** Hears of each line, too. */
  follow?: ((line: string) => void) | undefined;
  /** Where the lines go; stderr unless given. */
  fd?: number;
}): Logger {
  // Without a least length nothing waits for the write under way when the log is flushed.
  const destination = pino.destination({
    fd: options.fd ?? 2,
    sync: false,
    minLength: 1,
    maxLength: heldBytesMax,
  });
  const logger = pino(
    {
      level: options.level,
      base: { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: '[redacted]' },
    },
    options.follow === undefined ? destination : followed(destination, options.follow),
  );
  destination.on('drop', () => dropped.set(logger, droppedEvents(logger) + 1));
  return logger;
}

function followed(
  destination: ReturnType<typeof pino.destination>,
  follow: (line: string) => void,
) {
  return {
    write(line: string) {
      destination.write(line);
      follow(line);
    },
    flush: (done: (error?: Error) => void) => destination.flush(done),
  };
}

const dropped = new WeakMap<Logger, number>();

/** Events of this logger and its children that were lost since the start, because nobody read them in time. */
export function droppedEvents(logger: Logger): number {
  return dropped.get(logger) ?? 0;
}

/** What waits for a reader that is too slow; what comes on top is dropped. */
const heldBytesMax = 8 << 20;

/** Whether events of this weight are written at that level. */
export function logsAt(level: string, event: 'info'): boolean {
  return (
    (pino.levels.values[level] ?? Number.POSITIVE_INFINITY) <= (pino.levels.values[event] ?? 0)
  );
}

/**
 * Writes what is buffered, for at most half a second. To be awaited before the
 * process exits: at exit pino writes synchronously, and would try for ever when
 * whoever read the log is gone; an asynchronous write finds that out.
 */
export function flushLogger(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 500).unref();
    logger.flush(() => resolve());
  });
}
