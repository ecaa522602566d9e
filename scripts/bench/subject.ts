import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageEventBytes, messageReply, unaryRequest } from './canned.ts';
import { pinned } from './cores.ts';
import type { CrowdedWorkspace } from './crowded-workspace.ts';
import type { GuardedPlaces } from './guarded-workspaces.ts';
import type { KeepingPlaces } from './keeping-workspaces.ts';
import type { LimitedPlaces } from './limited-workspaces.ts';
import { startPart } from './parts.ts';
import type { Place } from './place.ts';
import type { RoutingPlaces } from './routing-workspace.ts';
import type { ToolPlaces } from './tool-places.ts';

/** Something whose cost is measured: a proxy or gateway in front of the bench's upstream. */
export interface Subject {
  readonly name: string;
  /** Where chat requests go. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The root of the processes whose CPU and memory count. */
  pid(): number;
  /** Starts it (again) and gives the time until it answered a chat request with 200. */
  restart(): Promise<number>;
  /**
   * Halts parts that in earnest run on other machines and here would take the load generator's core; the answer lets
   * them go on. What they were sent meanwhile waits for them.
   */
  haltRest?(): () => void;
  /** Where chat requests go that lead to an upstream of Anthropic's format. */
  readonly translated?: Pick<Place, 'url' | 'headers' | 'replies'>;
  /** Fills a workspace with configs, for what routing by them costs. */
  openRoutingWorkspace?(): Promise<RoutingPlaces>;
  /** Opens workspaces that differ in their limits alone. */
  openLimitedWorkspaces?(): Promise<LimitedPlaces>;
  /** Workspaces that differ in what is kept of their requests. */
  openKeepingWorkspaces?(): Promise<KeepingPlaces>;
  /** Opens workspaces that differ in their guardrails alone. */
  openGuardedWorkspaces?(): Promise<GuardedPlaces>;
  /** Fills a workspace with keys, for what a list of them costs. */
  openCrowdedWorkspace?(): Promise<CrowdedWorkspace>;
  /** Opens an MCP server and an agent of the bench's upstream. */
  openTools?(): Promise<ToolPlaces>;
  /** Where its metrics are read. */
  metricsUrl?(): string;
  /** Lines of its log in which Node warns of listeners that grow. */
  warnings?(): number;
  stop(): Promise<void>;
}

export interface SubjectPlace {
  /** `http://127.0.0.1:port` of the bench's upstream. */
  upstreamOrigin: string;
  core: string | undefined;
  /** The person at the keyboard has had enough. */
  signal: AbortSignal;
}

const firstAnswerTimeoutMs = 60_000;

/** The bare proxy; a second one beside it shows how far the figures of a run can be trusted. */
export const secondBareProxy = 'bare proxy 2';

/** @param name `secondBareProxy`, or another that tells it from the gateways */
export async function startBareProxy(
  name: string,
  { upstreamOrigin, core, signal }: SubjectPlace,
): Promise<Subject> {
  let part = await startPart('bare-proxy.ts', [upstreamOrigin], core);
  const port = String(part.port);
  const url = `http://127.0.0.1:${port}/v1/chat/completions`;
  return {
    name,
    url,
    headers: {},
    openTools: async () => {
      const at = (path: string) => ({ url: `http://127.0.0.1:${port}${path}`, headers: {} });
      return { mcp: at('/mcp'), agent: at('/agent') };
    },
    // It translates nothing: what it is sent and what it sends are the same as a gateway's.
    translated: {
      url: `http://127.0.0.1:${port}/v1/messages`,
      headers: {},
      replies: {
        unary: { bytesMin: messageReply.length, endsWith: '}' },
        stream: { bytesMin: messageEventBytes, endsWith: '}' },
      },
    },
    pid: () => part.pid,
    async restart() {
      await part.stop();
      const startedAt = performance.now();
      part = await startPart('bare-proxy.ts', [upstreamOrigin, port], core);
      await firstAnswer(url, {}, signal);
      return performance.now() - startedAt;
    },
    stop: () => part.stop(),
  };
}

export interface CommandLine {
  /** A shell command line; `{upstream}` becomes the upstream's base URL, ending in /v1. */
  command: string;
  /** Its base URL, as an OpenAI client would be given it. */
  url: string;
  /** `{upstream}` is replaced here too. */
  headers: Readonly<Record<string, string>>;
}

/** Another gateway, run from a command line, for figures side by side. */
export async function startCommand(
  line: CommandLine,
  { upstreamOrigin, core, signal }: SubjectPlace,
): Promise<Subject> {
  const fill = (text: string): string => text.replaceAll('{upstream}', `${upstreamOrigin}/v1`);
  const url = line.url.endsWith('/chat/completions')
    ? line.url
    : `${line.url.replace(/\/$/, '')}/chat/completions`;
  const headers = Object.fromEntries(
    Object.entries(line.headers).map(([name, value]) => [name, fill(value)]),
  );
  const launch = () => {
    const [command, ...args] = pinned(core, ['sh', '-c', fill(line.command)]);
    // A group of its own, so that what the shell starts ends with it.
    return spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
  };
  let child = launch();
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    process.kill(-child.pid!, 'SIGTERM');
    const killer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 5_000);
    await exited;
    clearTimeout(killer);
  };
  try {
    await firstAnswer(url, headers, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name: 'other',
    url,
    headers,
    pid: () => child.pid!,
    async restart() {
      await stop();
      const startedAt = performance.now();
      child = launch();
      await firstAnswer(url, headers, signal);
      return performance.now() - startedAt;
    },
    stop,
  };
}

/** Waits for the first 200. */
export async function firstAnswer(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + firstAnswerTimeoutMs;
  let last = 'nothing answered';
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    try {
      const reply = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: unaryRequest,
        signal: AbortSignal.timeout(5_000),
      });
      const text = await reply.text();
      if (reply.status === 200) return;
      last = `status ${reply.status}: ${text.slice(0, 300)}`;
    } catch (error) {
      last = String((error as Error).cause ?? error);
    }
    await sleep(5);
  }
  throw new Error(
    `${url} gave no 200 within ${firstAnswerTimeoutMs / 1000} s; the last answer was: ${last}`,
  );
}
