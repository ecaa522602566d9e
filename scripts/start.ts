/**
 * `npm start`: all of Sluice on this machine, as separate processes, until
 * Ctrl-C or SIGTERM. Data, secrets and logs live in one directory.
 */
import { join, resolve } from 'node:path';
import {
  leftoverServer,
  portsFrom,
  type Sluice,
  type SupervisionEvent,
  startSluice,
} from '@sluice/stack';
import { currentBuilds } from './build.ts';
import { takenPortsMessage } from './start/check-ports.ts';
import {
  DataDirError,
  openDataDir,
  readCredentials,
  resetDataDir,
  writeCredentials,
} from './start/data-dir.ts';
import { type DemoTools, registerDemoTools } from './start/demo-tools.ts';
import { FlagError, parseStartFlags, type StartFlags, usage } from './start/flags.ts';
import { logFile } from './start/log-file.ts';
import { type OwnSettings, ownSettings } from './start/own-settings.ts';
import { AlreadyRunningError, beginRun, type Run } from './start/run-file.ts';
import { welcome } from './start/welcome.ts';

const startedAt = Date.now();
const stopRequest = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const)
  process.on(signal, () => stopRequest.abort());
// Loses its terminal, keeps its duty: the processes must still be stopped in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exit(await main());

async function main(): Promise<number> {
  let run: Run | undefined;
  try {
    const flags = parseStartFlags(process.argv.slice(2), process.env);
    if (flags.help) {
      process.stdout.write(usage);
      return 0;
    }
    const own = ownSettings(process.env, flags);
    const dataDir =
      flags.dataDir === undefined
        ? resolve(import.meta.dirname, '../.sluice')
        : resolve(process.env.SLUICE_CALLER_DIR ?? process.cwd(), flags.dataDir);
    run = await beginRun(join(dataDir, 'run.json'), flags.port, say);
    return await runSluice(flags, own, dataDir, run);
  } catch (error) {
    if (stopRequest.signal.aborted) {
      say('Stopped.');
      return 0;
    }
    const isExpected =
      error instanceof FlagError ||
      error instanceof DataDirError ||
      error instanceof AlreadyRunningError;
    say(isExpected ? error.message : `Sluice could not start. ${(error as Error).message}`);
    return error instanceof FlagError ? 2 : 1;
  } finally {
    run?.end();
  }
}

async function runSluice(
  flags: StartFlags,
  { said, speaksGrpc, ...own }: OwnSettings,
  dataDir: string,
  run: Run,
): Promise<number> {
  const ports = portsFrom(flags.port);
  // A server that outlived a killed run holds its port until the new one has ended it.
  const hasLeftover = leftoverServer(join(dataDir, 'postgres')) !== undefined;
  const taken = await takenPortsMessage(ports, [
    ...(hasLeftover || own.databaseUrl !== undefined ? (['postgres'] as const) : []),
    ...(speaksGrpc ? [] : (['gatewayGrpc'] as const)),
  ]);
  if (taken !== undefined) {
    say(taken);
    return 1;
  }
  if (flags.reset) resetDataDir(dataDir, 'run.json');
  const secrets = openDataDir(dataDir);
  const credentials = readCredentials(dataDir);
  say(
    credentials === undefined
      ? 'First start: creating the databases and keys.'
      : 'Starting Sluice.',
  );
  for (const line of said) say(line);
  const builtServices = currentBuilds();
  for (const service of Object.keys(builtServices))
    say(`  the ${service} runs as built by npm run build`);
  const sluice = await startSluice(
    {
      ...own,
      dataDir,
      ports,
      secrets,
      credentials,
      restart: true,
      onCredentials: (created) => writeCredentials(dataDir, created),
      environment: process.env,
      builtServices,
      compileCacheDir: process.env.NODE_COMPILE_CACHE ?? join(dataDir, 'cache'),
      onEvent(event) {
        if (event.kind === 'ready') run.note(event.name, event.pid);
        say(describe(event));
      },
      openLog: (part) => logFile(join(dataDir, 'logs', `${part}.log`)),
    },
    stopRequest.signal,
  );
  const tools = await demoTools(sluice, ports.demoUpstream, credentials === undefined);
  if (flags.json) process.stdout.write(`${JSON.stringify(readCredentials(dataDir))}\n`);
  else
    process.stdout.write(
      welcome(sluice.credentials, dataDir, (Date.now() - startedAt) / 1000, tools),
    );
  await stopped(sluice);
  return 0;
}

/** Sluice works without them: what fails here is told, and stops nothing. */
async function demoTools(
  { credentials }: Sluice,
  port: number,
  isFirstStart: boolean,
): Promise<DemoTools | undefined> {
  try {
    return await registerDemoTools(credentials, `http://127.0.0.1:${port}`, isFirstStart);
  } catch (error) {
    say(`The demo MCP server and agent could not be registered. ${(error as Error).message}`);
    return undefined;
  }
}

async function stopped(sluice: Sluice): Promise<void> {
  if (!stopRequest.signal.aborted)
    await new Promise((settle) =>
      stopRequest.signal.addEventListener('abort', settle, { once: true }),
    );
  say('Stopping.');
  await sluice.stop();
  say('Stopped.');
}

function describe(event: SupervisionEvent): string {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  if (event.kind === 'ready') return `  ${event.name} is ready (${seconds} s)`;
  if (event.kind === 'stopped') return `  ${event.name} has stopped`;
  return `  ${event.name} ${event.reason.split('\n')[0]}; starting it again in ${event.retryInMs / 1000} s`;
}

/** Progress is for people and goes to stderr; stdout holds the result. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
