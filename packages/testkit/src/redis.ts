import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { freePort } from '@sluice/stack';
import { testCertificatePath } from './certificates.ts';
import { debianServer } from './debian-servers.ts';
import { eventually } from './eventually.ts';
import { temporaryFolder } from './run-folder.ts';
import { type SpawnedServer, spawnServer } from './spawned-server.ts';

export interface TestRedisOptions {
  /** The server's certificate is the one of `certificates/`; clients need none. */
  tls?: boolean;
  password?: string;
}

type Settings = Record<string, string>;

/** A real Redis without persistence: a restart comes back empty, as a cache may. */
export async function startRedis(options: TestRedisOptions = {}): Promise<SpawnedServer> {
  return startServer(options);
}

async function startServer(options: TestRedisOptions, more: Settings = {}): Promise<SpawnedServer> {
  const folder = await temporaryFolder('redis');
  const port = await freePort();
  const settings: Settings = {
    ...listening(port, options),
    dir: folder,
    save: '',
    appendonly: 'no',
    'repl-diskless-sync-delay': '0',
    daemonize: 'no',
    ...(options.password === undefined
      ? {}
      : { requirepass: options.password, masterauth: options.password }),
    ...more,
  };
  return spawnServer({
    program: debianServer('redis-server'),
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    port,
    url: `${options.tls === true ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
  });
}

function listening(port: number, { tls = false }: TestRedisOptions): Settings {
  const plain = { bind: '127.0.0.1', port: String(tls ? 0 : port) };
  if (!tls) return plain;
  return {
    ...plain,
    'tls-port': String(port),
    'tls-cert-file': testCertificatePath('server'),
    'tls-key-file': testCertificatePath('server-key'),
    'tls-ca-cert-file': testCertificatePath('authority'),
    'tls-client-cert-file': testCertificatePath('client'),
    'tls-client-key-file': testCertificatePath('client-key'),
    'tls-auth-clients': 'no',
    'tls-replication': 'yes',
    'tls-cluster': 'yes',
  };
}

export interface TestRedisCluster {
  readonly nodes: readonly SpawnedServer[];
  /** `host:port` of each node. */
  readonly endpoints: readonly string[];
  stop(): Promise<void>;
}

/** Three masters that share the slots, without replicas: with one of them down the cluster serves nobody. */
export async function startRedisCluster(options: TestRedisOptions = {}): Promise<TestRedisCluster> {
  const nodes = await Promise.all(
    [0, 1, 2].map(async () =>
      startServer(options, {
        'cluster-enabled': 'yes',
        'cluster-config-file': 'nodes.conf',
        'cluster-node-timeout': '1000',
        'cluster-port': String(await freePort()),
      }),
    ),
  );
  const [first] = nodes;
  const busOf = async (node: SpawnedServer) =>
    /@(\d+)/.exec(await ask(node.port, options, 'CLUSTER', 'NODES'))?.[1] ?? '';
  for (const [index, node] of nodes.entries()) {
    const [from, to] = [index, index + 1].map((third) => Math.round((16_384 * third) / 3));
    const slots = Array.from({ length: to! - from! }, (_, slot) => String(from! + slot));
    await ask(node.port, options, 'CLUSTER', 'ADDSLOTS', ...slots);
    if (node !== first)
      await ask(
        node.port,
        options,
        ...['CLUSTER', 'MEET', '127.0.0.1', String(first?.port), await busOf(first!)],
      );
  }
  await eventually(async () => {
    for (const node of nodes)
      if (!(await ask(node.port, options, 'CLUSTER', 'INFO')).includes('cluster_state:ok'))
        throw new Error(`node ${node.port} does not see the whole cluster`);
  });
  return {
    nodes,
    endpoints: nodes.map(({ port }) => `127.0.0.1:${port}`),
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

export interface TestRedisSentinel {
  readonly master: SpawnedServer;
  /** Becomes the master about two seconds after the other died. */
  readonly replica: SpawnedServer;
  readonly sentinel: SpawnedServer;
  /** What the sentinel calls them. */
  readonly masterName: string;
  readonly sentinelPassword: string;
  stop(): Promise<void>;
}

/** A master, a replica, and one sentinel that decides alone and wants a password of its own. */
export async function startRedisSentinel(
  options: TestRedisOptions = {},
): Promise<TestRedisSentinel> {
  const masterName = 'sluice-test';
  const sentinelPassword = 'of the sentinel';
  const master = await startServer(options);
  const replica = await startServer(options, { replicaof: `127.0.0.1 ${master.port}` });
  await eventually(async () => {
    if (!(await ask(replica.port, options, 'INFO', 'replication')).includes('link_status:up'))
      throw new Error('the replica has not reached its master');
  });
  const folder = await temporaryFolder('sentinel');
  const port = await freePort();
  const lines = [
    ...Object.entries(listening(port, options)).map(([name, value]) => `${name} ${value}`),
    `dir ${folder}`,
    `requirepass "${sentinelPassword}"`,
    `sentinel monitor ${masterName} 127.0.0.1 ${master.port} 1`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 3000`,
    ...(options.password === undefined
      ? []
      : [`sentinel auth-pass ${masterName} "${options.password}"`]),
  ];
  const file = join(folder, 'sentinel.conf');
  await writeFile(file, `${lines.join('\n')}\n`);
  const sentinel = await spawnServer({
    program: debianServer('redis-server'),
    args: [file, '--sentinel'],
    port,
    url: `redis://127.0.0.1:${port}`,
  });
  const asked = { ...options, password: sentinelPassword };
  await eventually(async () => {
    const known = await ask(port, asked, 'SENTINEL', 'REPLICAS', masterName);
    if (!known.includes(String(replica.port))) throw new Error('the sentinel has no replica');
  });
  return {
    master,
    replica,
    sentinel,
    masterName,
    sentinelPassword,
    stop: async () => {
      await Promise.all([sentinel, replica, master].map((server) => server.stop()));
    },
  };
}

/** Sends one command and returns the reply as it stands on the wire. @throws Error for an error reply */
async function ask(port: number, options: TestRedisOptions, ...command: string[]): Promise<string> {
  const login = options.password === undefined ? [] : [['AUTH', options.password]];
  const socket =
    options.tls === true
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect(port, '127.0.0.1');
  // Its answer marks the end: sentinels know no QUIT.
  socket.write([...login, command, ['PING']].map(encode).join(''));
  socket.setTimeout(2000, () => socket.destroy(new Error(`${command[0]} was not answered`)));
  let reply = '';
  for await (const chunk of socket) {
    reply += chunk;
    if (reply.endsWith('+PONG\r\n')) break;
  }
  const fault = /^-.*/m.exec(reply);
  if (fault !== null) throw new Error(`${command.slice(0, 2).join(' ')}: ${fault[0]}`);
  return reply;
}

function encode(words: readonly string[]): string {
  return [
    `*${words.length}`,
    ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]),
    '',
  ].join('\r\n');
}
