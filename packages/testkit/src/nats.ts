import { freePort } from '@sluice/stack';
import { debianServer } from './debian-servers.ts';
import { temporaryFolder } from './run-folder.ts';
import { type SpawnedServer, spawnServer } from './spawned-server.ts';

/** A real NATS with JetStream; streams live in a temporary folder and survive `kill` and `restart`. */
export async function startNats(): Promise<SpawnedServer> {
  const folder = await temporaryFolder('nats');
  const port = await freePort();
  return spawnServer({
    program: debianServer('nats-server'),
    args: ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', folder],
    port,
    url: `nats://127.0.0.1:${port}`,
  });
}
