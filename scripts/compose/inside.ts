/** What `npm run compose` does within its own network: `inside.ts FOLDER DEBIAN`, the archive of `debianSystem`. */
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startDemoUpstream } from '@sluice/demo-upstream';
import type { SluiceCredentials } from '@sluice/stack';
import { root } from '../chart/render.ts';
import type { ImageList } from '../images/make-images.ts';
import { openReport, until, work } from '../pods/work.ts';
import { standIns } from './stand-ins.ts';

const [folder = '', debian = ''] = process.argv.slice(2);
const gateway = 'http://127.0.0.1:8787';
const socket = 'unix:///run/docker.sock';
const project = join(folder, 'deploy');
const { report, hasFailed } = openReport();
const stores = standIns(process.execPath, root);
const env = {
  ...process.env,
  DOCKER_HOST: socket,
  DOCKER_BUILDKIT: '0',
  COMPOSE_FILE: 'compose.yaml:stand-ins.yaml',
  ...Object.fromEntries(stores.map(({ variable, image }) => [variable, image])),
};

async function run(command: string, ...args: string[]): Promise<string> {
  const how = { cwd: project, env, timeout: 180_000, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(command, args, how)).stdout;
}
const compose = (...args: string[]) => run('docker-compose', '-p', 'sluice', ...args);

async function makeImages(): Promise<void> {
  await run('docker', 'import', debian, 'stand-in/debian:1');
  for (const { image, containerfile } of stores) {
    const context = join(folder, image.replace(/\W/g, '-'));
    mkdirSync(context);
    writeFileSync(join(context, 'Dockerfile'), containerfile);
    await run('docker', 'build', '--quiet', '--network', 'none', '--tag', image, context);
  }
  const list = JSON.parse(readFileSync(join(root, 'dist/images/images.json'), 'utf8')) as ImageList;
  for (const { service, tag } of list.images) {
    const from = `oci-archive:${join(root, `dist/images/${service}.oci.tar`)}`;
    const archive = join(folder, `${service}.tar`);
    const name = `docker.io/sluice/${service}:${tag}`;
    await run('skopeo', 'copy', '--quiet', from, `docker-archive:${archive}:${name}`);
    await run('docker', 'load', '--quiet', '--input', archive);
  }
  report(`${list.images.length} images of ours, ${stores.length} stores`);
}

interface DockerContainer {
  Name: string;
  State: { Status: string; ExitCode: number; Pid: number };
  Config: { User: string };
  HostConfig: { ReadonlyRootfs: boolean; CapDrop: string[] | null; Privileged: boolean };
  NetworkSettings: { Networks: Record<string, { Gateway: string }> };
}

async function inspect(service: string): Promise<DockerContainer> {
  const id = (await compose('ps', '--quiet', service)).trim();
  const [found] = JSON.parse(await run('docker', 'inspect', id)) as DockerContainer[];
  if (found === undefined) throw new Error(`There is no ${service}.`);
  return found;
}

const becomesReady = () =>
  until('readiness', async () => {
    const response = await fetch(`${gateway}/health/ready`);
    const text = await response.text();
    return response.ok && text.includes('"connected"') ? text : undefined;
  });

async function main(): Promise<void> {
  cpSync(join(root, 'deploy'), project, { recursive: true });
  // All that differs from what an operator has: where limits may not be raised, 65,536 files are refused.
  writeFileSync(
    join(project, 'stand-ins.yaml'),
    `services:\n  clickhouse:\n    volumes: ["${root}:${root}:ro"]\n    ulimits: { nofile: 20000 }\n`,
  );
  await until('the engine', () => run('docker', 'version'));
  await makeImages();

  await run('sh', 'compose-secrets.sh');
  await compose('up', '-d');
  report('compose up: stores, migrations, services, each when what it needs is ready');
  const keys = JSON.parse(await compose('run', '--rm', 'first-keys')) as SluiceCredentials;
  report(`the gateway is ready: ${await becomesReady()}`);

  // The demo provider is found at the bridge of the network that leads out.
  const [network] = JSON.parse(await run('docker', 'network', 'inspect', 'sluice_outside')) as {
    IPAM: { Config: { Gateway: string }[] };
  }[];
  const host = network?.IPAM.Config[0]?.Gateway ?? '';
  const settings = join(project, 'sluice.env');
  writeFileSync(settings, `${readFileSync(settings, 'utf8')}TRUSTED_CUSTOM_HOSTS=${host}\n`);
  const upstream = await startDemoUpstream({ host, port: 8799 });
  await compose('up', '-d');
  await becomesReady();
  report('a setting in sluice.env, and up again');

  const services = ['gateway', 'control-plane', 'data-service'];
  const all = await Promise.all(services.map(inspect));
  report(
    'services: user 65532, a read-only file system, no capability',
    all
      .filter(
        ({ Config, HostConfig, State }) =>
          !Config.User.startsWith('65532') ||
          !HostConfig.ReadonlyRootfs ||
          HostConfig.Privileged ||
          !/^CapEff:\s+0+$/m.test(readFileSync(`/proc/${State.Pid}/status`, 'utf8')),
      )
      .map(({ Name }) => Name),
  );
  await work({
    ...{ gateway, report },
    ...{ adminKey: keys.admin_key, workspaceKey: keys.workspace_key },
    upstreamUrl: `http://${host}:${upstream.port}/v1`,
  });

  await compose('stop', 'gateway', 'control-plane', 'data-service');
  const ended = await Promise.all(services.map(inspect));
  report(
    'services end on SIGTERM',
    ended
      .filter(({ State }) => State.ExitCode !== 0)
      .map((each) => `${each.Name}: ${each.State.ExitCode}`),
  );
  await compose('down');
  report('compose down');
  await upstream.close();
}

const engine = spawn(
  'dockerd',
  [
    ...['--data-root', join(folder, 'docker'), '--exec-root', '/run/docker'],
    ...['--pidfile', '/run/docker.pid', '--host', socket],
  ],
  { stdio: ['ignore', 'ignore', 'pipe'], env },
);
let said = '';
engine.stderr.on('data', (chunk) => {
  said = `${said}${chunk}`.slice(-4000);
});
try {
  await main();
} catch (error) {
  const { stack, stderr = '' } = error as Error & { stderr?: string };
  report('an error', [stack, stderr]);
  const logs = await compose('logs', '--tail', '12').catch(() => said);
  process.stdout.write(logs);
}
engine.kill('SIGTERM');
process.exit(hasFailed() ? 1 : 0);
