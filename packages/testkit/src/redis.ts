import { freePort } from '@sluice/stack';
import { debianServer } from './debian-servers.ts';
import { temporaryFolder } from './run-folder.ts';
import { type SpawnedServer, spawnServer } from './spawned-server.ts';

/** A real Redis without persistence: a restart comes back empty, as a cache may. */
export async function startRedis(): Promise<SpawnedServer> {
  const folder = await temporaryFolder('redis');
  const port = await freePort();
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'no',
    daemonize: 'no',
  };
  return spawnServer({
    program: debianServer('redis-server'),
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    port,
    url: `redis://127.0.0.1:${port}`,
  });
}
