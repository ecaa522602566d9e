import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isPortFree, portsFrom, type SluiceCredentials } from '@sluice/stack';
import { eventually, isLongForm, temporaryFolder } from '@sluice/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { processStartTime } from './process-start-time.ts';

const launchers: ChildProcess[] = [];
afterEach(async () => {
  for (const launcher of launchers.splice(0)) await stop(launcher);
});

/** `npm start -- --json` without npm. */
function launch(dataDir: string, port: number) {
  const args = [
    `${import.meta.dirname}/../start.ts`,
    '--json',
    '--data',
    dataDir,
    '--port',
    String(port),
  ];
  const launcher = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  launchers.push(launcher);
  let output = '';
  let errors = '';
  launcher.stdout.on('data', (chunk) => {
    output += chunk;
  });
  launcher.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const credentials = async (): Promise<SluiceCredentials> => {
    await eventually(() => {
      if (launcher.exitCode !== null) throw new Error(`ended: ${errors}`);
      return output.endsWith('\n');
    });
    return JSON.parse(output);
  };
  return { launcher, credentials, output: () => output, errors: () => errors };
}

async function stop(launcher: ChildProcess): Promise<void> {
  if (launcher.exitCode !== null || launcher.signalCode !== null) return;
  launcher.kill('SIGTERM');
  await once(launcher, 'exit');
}

/** A gateway port whose followers are free too. */
async function freeBase(): Promise<number> {
  return eventually(async () => {
    // Above what other tests take, below what kernels give to outgoing connections.
    const base = 32_010 + Math.floor(Math.random() * 700);
    const free = await Promise.all(Object.values(portsFrom(base)).map(isPortFree));
    if (!free.every(Boolean)) throw new Error('some ports are taken');
    return base;
  });
}

function parts(dataDir: string): Record<string, { pid: number }> {
  return JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')).parts;
}

function partPids(dataDir: string): number[] {
  return Object.values(parts(dataDir)).map((part) => part.pid);
}

function partPid(dataDir: string, name: string): number {
  const part = parts(dataDir)[name];
  if (part === undefined) throw new Error(`no ${name} runs`);
  return part.pid;
}

function ask(credentials: SluiceCredentials): Promise<Response> {
  return fetch(`${credentials.base_url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': credentials.workspace_key },
    body: JSON.stringify({
      model: `${credentials.demo_provider}/gpt-4o-mini`,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  });
}

/** What the demo MCP server and the demo agent answer behind the gateway. */
async function callDemoTools({ base_url, workspace_key }: SluiceCredentials) {
  async function call(url: string, method: string, params: unknown): Promise<unknown> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-service-api-key': workspace_key,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return ((await response.json()) as { result: unknown }).result;
  }
  const greeting = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 't', version: '1' },
  };
  const greeted = await call(`${new URL(base_url).origin}/demo/mcp`, 'initialize', greeting);
  const parts = [{ kind: 'text', text: 'Hello' }];
  const message = { kind: 'message', messageId: '1', role: 'user', parts };
  const task = await call(`${base_url}/agent/demo/`, 'message/send', { message });
  const [answer] = (task as { artifacts: { parts: { text: string }[] }[] }).artifacts;
  return [(greeted as { protocolVersion: string }).protocolVersion, answer?.parts[0]?.text];
}

/** `npm run audit:verify -- --data …` without npm. */
async function verifyAudit(dataDir: string): Promise<string> {
  const args = [`${import.meta.dirname}/../audit-verify.ts`, '--data', dataDir];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

/** `npm run prices -- …` without npm. */
async function prices(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    `${import.meta.dirname}/../prices.ts`,
    ...args,
  ]);
  return stdout;
}

/** What was asked is in the ledger, at the catalogue's price: a new price is applied to it once. */
async function expectRepricing(dataDir: string): Promise<void> {
  const dir = await temporaryFolder('prices');
  const from = join(dir, 'new');
  mkdirSync(from);
  const price = { pricing_config: { pay_as_you_go: { request_token: { price: 1 } } } };
  writeFileSync(join(from, 'demo.json'), JSON.stringify({ 'gpt-4o-mini': price }));
  expect(await prices('diff', '--from', from)).toContain('demo gpt-4o-mini input: 0.15 -> 10000');
  await prices('apply', '--from', from, '--dir', dir, '--at', '2020-01-01');
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const [since, until] = [day(Date.now() - 24 * 3600_000), day(Date.now() + 24 * 3600_000)];
  const args = ['--dir', dir, '--since', since, '--until', until, '--data', dataDir];
  const first = await eventually(async () => {
    const output = await prices('reprice', ...args);
    if (!output.startsWith('1 attempts: 1 adjusted by $')) throw new Error(output);
    return output;
  });
  expect(first).not.toContain('$0.000000000');
  expect(await prices('reprice', ...args)).toContain('1 attempts: 0 adjusted by $0.000000000');
}

describe('npm start', () => {
  it('prints the credentials once all is ready, recovers when it is killed, keeps the data, and leaves no process', async () => {
    const dataDir = join(await temporaryFolder('start'), 'data');
    const port = await freeBase();
    const first = launch(dataDir, port);
    const credentials = await first.credentials();
    expect(Object.keys(credentials)).toEqual([
      'base_url',
      'admin_key',
      'workspace_key',
      'organisation_id',
      'workspace_id',
      'workspace_slug',
      'demo_provider',
    ]);
    expect(credentials).toMatchObject({
      base_url: `http://127.0.0.1:${port}/v1`,
      demo_provider: '@demo',
    });
    expect(JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))).toEqual(
      credentials,
    );
    expect(statSync(join(dataDir, 'credentials.json')).mode & 0o777).toBe(0o600);
    expect((await ask(credentials)).status).toBe(200);
    expect(await verifyAudit(dataDir)).toContain(`${credentials.organisation_id}  valid`);

    const second = launch(dataDir, port);
    const refused = once(second.launcher, 'exit');
    await expectRepricing(dataDir);
    await refused;
    expect(second.launcher.exitCode).toBe(1);
    expect(second.errors()).toContain(
      `Sluice runs on this data already (process ${first.launcher.pid}, gateway on port ${port})`,
    );

    const killed = partPids(dataDir);
    first.launcher.kill('SIGKILL');
    // Its watcher with it: the server itself goes on, on the port that the next start wants.
    process.kill(partPid(dataDir, 'postgres'), 'SIGKILL');
    await eventually(() => killed.every((pid) => processStartTime(pid) === undefined));
    const third = launch(dataDir, port);
    expect(await third.credentials()).toEqual(credentials);
    expect((await ask(credentials)).status).toBe(200);
    expect(await callDemoTools(credentials)).toEqual(['2025-11-25', 'You said: Hello']);

    const pids = partPids(dataDir);
    expect(pids).toHaveLength(5);
    await stop(third.launcher);
    expect(third.launcher.exitCode).toBe(0);
    expect(third.output().trim().split('\n')).toHaveLength(1);
    expect(pids.map(processStartTime)).toEqual(pids.map(() => undefined));
    expect(existsSync(join(dataDir, 'run.json'))).toBe(false);

    // The log of what is stopped can be verified too, and that leaves no process either.
    expect(await verifyAudit(dataDir)).toContain(`${credentials.organisation_id}  valid`);
    expect(existsSync(join(dataDir, 'run.json'))).toBe(false);
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
    // A third start takes half a minute on a busy machine (`npm run test:long`).
    if (!isLongForm) return;

    // Other ports, same data: the demo provider must have moved with them.
    const otherPort = await freeBase();
    const moved = launch(dataDir, otherPort);
    const again = await moved.credentials();
    expect(again).toEqual({ ...credentials, base_url: `http://127.0.0.1:${otherPort}/v1` });
    await eventually(async () => (await ask(again)).status === 200);
    expect(await callDemoTools(again)).toEqual(['2025-11-25', 'You said: Hello']);
  });
});
