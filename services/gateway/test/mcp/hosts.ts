import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stream } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { freePort, temporaryFolder } from '@sluice/testkit';

/** A program that people connect to servers: it says where to log in, and listens where the browser is sent then. */
export interface ProgramOptions {
  /** Where `npm run mcp:hosts` has installed them. */
  readonly folder: string;
  readonly url: string;
  /** A person, who goes there and is led back. */
  readonly logIn: (address: string) => Promise<void>;
}

const callMs = 60_000;

/** Calls `echo` by `mcp-remote`, which a host of stdio alone speaks to. @returns its text */
export async function echoByMcpRemote(options: ProgramOptions, say: string): Promise<string> {
  const port = await freePort();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      join(options.folder, 'node_modules/mcp-remote/dist/proxy.js'),
      options.url,
      String(port),
      '--allow-http',
    ],
    env: await environment(),
    stderr: 'pipe',
  });
  hear(transport.stderr, options.logIn);
  const client = new Client({ name: 'host', version: '1' });
  await client.connect(transport, { timeout: callMs });
  const result = await client.callTool({ name: 'echo', arguments: { say } });
  await client.close();
  return JSON.stringify(result.content);
}

/** Calls `echo` by the command line of MCP Inspector. @returns what it prints */
export async function echoByInspector(options: ProgramOptions, say: string): Promise<string> {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [
      join(options.folder, 'node_modules/.bin/mcp-inspector'),
      '--cli',
      ...['--server-url', options.url, '--transport', 'http'],
      ...['--callback-url', `http://127.0.0.1:${port}/oauth/callback`],
      ...['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', `say=${say}`],
    ],
    { env: await environment(), stdio: ['ignore', 'pipe', 'pipe'], timeout: callMs },
  );
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  hear(child.stdout, options.logIn);
  hear(child.stderr, options.logIn);
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return Buffer.concat(said).toString();
}

/** Nothing of before is known, and no browser opens. */
async function environment(): Promise<Record<string, string>> {
  const home = await mkdtemp(join(await temporaryFolder('hosts'), 'home-'));
  const { PATH = '' } = process.env;
  return {
    PATH,
    HOME: home,
    BROWSER: 'true',
    MCP_REMOTE_CONFIG_DIR: home,
    MCP_STORAGE_DIR: home,
    MCP_INSPECTOR_SECRET_STORE: 'file',
    // It asks nobody where there is no terminal, unless it may open a browser: `true`, which opens none.
    MCP_AUTO_OPEN_ENABLED: 'true',
  };
}

/** The first address of an authorisation endpoint that it says is gone to. */
function hear(stream: Stream | null, logIn: ProgramOptions['logIn']): void {
  let said = '';
  let hasGone = false;
  stream?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    const [address] = /http\S+\/oauth\/authorize\?\S+(?=\s)/.exec(said) ?? [];
    if (address === undefined || hasGone) return;
    hasGone = true;
    void logIn(address);
  });
}
