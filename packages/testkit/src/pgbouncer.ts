import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@sluice/stack';
import { debianServer } from './debian-servers.ts';
import { temporaryFolder } from './run-folder.ts';
import { type SpawnedServer, spawnServer } from './spawned-server.ts';

/**
 * A real PgBouncer as its package sets it up, before the server of `databaseUrl`. `url` of the server leads to that database through it.
 * @param poolMode  what belongs to a client for how long
 */
export async function startPgBouncer(
  databaseUrl: string,
  poolMode: 'session' | 'transaction',
): Promise<SpawnedServer> {
  const server = new URL(databaseUrl);
  const folder = await temporaryFolder('pgbouncer');
  // It may run as another user, who must be able to pass.
  await chmod(folder, 0o711);
  const port = await freePort();
  const users = join(folder, 'users.txt');
  const { username, password, hostname } = server;
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  const settings = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = plain',
    `auth_file = ${users}`,
    `pool_mode = ${poolMode}`,
  ];
  await writeFile(settings, `${lines.join('\n')}\n`);
  const url = new URL(databaseUrl);
  url.port = String(port);
  // It refuses to run as root.
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  return spawnServer({
    program: debianServer('pgbouncer'),
    args: [...asUser, settings],
    port,
    url: url.href,
  });
}
