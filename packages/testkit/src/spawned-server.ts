import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { knowHowToBringBack } from './bring-back.ts';
import { eventually } from './eventually.ts';
import { noteServer } from './run-folder.ts';

/** A server program that a test may stop, kill and bring back on the same port and data. */
export interface SpawnedServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** SIGTERM, and waits for the end. The data stays until the test run ends. */
  stop(): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Starts it again; stops it first when it runs. */
  restart(): Promise<void>;
}

export interface ServerCommand {
  program: string;
  args: string[];
  port: number;
  url: string;
}

/** Starts a server program and waits until its port accepts. */
export async function spawnServer(command: ServerCommand): Promise<SpawnedServer> {
  let child = await launch(command);
  const isThere = () => child.exitCode === null && child.signalCode === null;
  const bringBack = async () => {
    if (isThere()) child.kill('SIGCONT');
    else child = await launch(command);
  };
  let forget = knowHowToBringBack(bringBack);
  return {
    url: command.url,
    port: command.port,
    get pid() {
      return child.pid as number;
    },
    stop: () => {
      forget();
      return end(child, 'SIGTERM');
    },
    kill: () => end(child, 'SIGKILL'),
    async restart() {
      await end(child, 'SIGTERM');
      child = await launch(command);
      forget = knowHowToBringBack(bringBack);
    },
  };
}

async function launch({ program, args, port }: ServerCommand): Promise<ChildProcess> {
  // Redis hangs where its clock is set from outside (scripts/times), and keeps the real one.
  const { LD_PRELOAD: _, ...env } = process.env;
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-8000);
    });
  await once(child, 'spawn');
  child.once('exit', noteServer(child.pid as number));
  await eventually(async () => {
    if (child.exitCode !== null)
      throw new Error(`${program} ended with exit code ${child.exitCode}:\n${output}`);
    await accepts(port);
  });
  return child;
}

function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill(signal);
  });
}
