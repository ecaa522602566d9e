import { openSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { liveService, type RunServiceOptions, type ServiceEnv } from '@sluice/service';
import { flushLogger, type Logger } from '@sluice/telemetry';
import type { FromHost, ToHost } from './messages.ts';

/**
 * Runs services for the tests of one worker, all in this process: a service that was run once is evaluated and
 * compiled for those that come after it. Each has its settings, its log, its metrics and its end for itself.
 */

const stopping = new Map<number, AbortController>();

const tell = (message: FromHost) => process.send?.(message);

process.on('message', (message: ToHost) => {
  if (message.kind === 'start') void run(message);
  else stopping.get(message.id)?.abort('SIGTERM');
});
// The worker is gone, and with it whoever could ask for anything.
process.on('disconnect', () => process.exit());
/** As in a process of its own, the fault of one request ends nothing; whoever runs the tests sees it. */
const report = (what: string) => (error: unknown) =>
  process.stderr.write(`${what} in a process that services share: ${inspect(error)}\n`);
process.on('unhandledRejection', report('a promise was left unhandled'));
process.on('uncaughtException', report('an exception was left uncaught'));
setTimeout(flushCompileCache, 3000).unref();

async function run({ id, entry, environment, logPath }: Extract<ToHost, { kind: 'start' }>) {
  const asked = new AbortController();
  stopping.set(id, asked);
  // Never closed: a line that comes late must not end up in a file of somebody else.
  const logFd = openSync(logPath, 'a');
  let logger: Logger | undefined;
  let code = 1;
  try {
    const { service } = (await import(pathToFileURL(entry).href)) as {
      service: RunServiceOptions<ServiceEnv>;
    };
    code = await liveService(service, {
      environment,
      logFd,
      stopping: asked.signal,
      onLogger(given) {
        logger = given;
      },
      async onReady() {
        if (logger !== undefined) await flushLogger(logger);
        tell({ kind: 'ready', id });
      },
    });
  } catch (error) {
    report(`${entry} was not run`)(error);
  }
  stopping.delete(id);
  tell({ kind: 'ended', id, code });
}
