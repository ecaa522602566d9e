import type { Part } from '@sluice/service';
import { type Logger, logsAt, RequestLog } from '@sluice/telemetry';
import type { Env } from '../settings.ts';

/** The last lines get so long. */
const flushMs = 500;

/**
 * One event a request; none where the settings say so.
 * @param fd where the lines go; stderr unless given
 */
export function requestLogPart(env: Env, logger: Logger, fd?: number) {
  const requestLog =
    env.LOG_REQUESTS && logsAt(env.LOG_LEVEL, 'info')
      ? new RequestLog({
          service: env.SERVICE_NAME,
          fd,
          onDropped: (lines) =>
            logger.warn(
              { lines },
              'lines of the request log were dropped: nobody read them in time',
            ),
        })
      : undefined;
  const part: Part = {
    name: 'request-log',
    gauges: () => [
      {
        name: 'request_log_lines_dropped',
        help: 'Lines of the request log that were dropped since the start: nobody read them in time',
        read: () => requestLog?.dropped ?? 0,
      },
    ],
    stop: (deadlineMs) => requestLog?.flush(Math.min(flushMs, deadlineMs)),
  };
  return { requestLog, part };
}
