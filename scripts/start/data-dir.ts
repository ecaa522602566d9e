import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createSecrets, type SluiceCredentials, type SluiceSecrets } from '@sluice/stack';

const secretsFile = 'secrets.json';
const credentialsFile = 'credentials.json';

export class DataDirError extends Error {}

/**
 * Makes the directory, each folder above it that is missing by itself: asked for all at once, Node tries for ever where a
 * file system takes no folders.
 * @throws DataDirError
 */
export function makeDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw notUsable(dataDir, error);
  }
}

/** What the system says of it in one sentence. */
export function notUsable(dataDir: string, cause: unknown): DataDirError {
  const { code, path } = cause as NodeJS.ErrnoException;
  const at = path === undefined || path === dataDir ? '' : ` at ${path}`;
  return new DataDirError(
    `${dataDir} cannot hold the data: ${reasons[code ?? ''] ?? 'it cannot be written to'} (${code ?? 'no reason given'}${at}). Choose another directory with --data.`,
    { cause },
  );
}

const reasons: Readonly<Record<string, string>> = {
  ENOTDIR: 'there is a file in its place, or in that of a folder above it',
  EACCES: 'who runs this may not write there',
  EPERM: 'who runs this may not write there',
  EROFS: 'its file system is read-only',
  ENOENT: 'its file system takes no folders or files',
  ENOSPC: 'its file system is full',
  ENAMETOOLONG: 'its name is too long',
};

function makeFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (found !== undefined)
    throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR', path });
  makeFolder(dirname(path));
  mkdirSync(path);
}

/** Creates the directory and reads or makes its secrets. @throws DataDirError when it holds somebody else's files. */
export function openDataDir(dataDir: string): SluiceSecrets {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0 && !isOurs(dataDir))
    throw new DataDirError(
      `${dataDir} is not empty and was not made by Sluice. Choose another directory with --data.`,
    );
  mkdirSync(dataDir, { recursive: true });
  // Postgres may run as another user (never as root), who must pass but need not look.
  chmodSync(dataDir, 0o711);
  for (const part of ['gateway', 'clickhouse', 'logs'])
    mkdirSync(join(dataDir, part), { recursive: true, mode: 0o700 });
  const known = readSecrets(dataDir);
  if (known !== undefined) return known;
  const created = createSecrets();
  writePrivately(join(dataDir, secretsFile), created);
  return created;
}

/** Of an installation that was started before. */
export function readSecrets(dataDir: string): SluiceSecrets | undefined {
  return readJson<SluiceSecrets>(join(dataDir, secretsFile));
}

/** Deletes all in the directory but the entry named. @throws DataDirError when it is not one of ours. */
export function resetDataDir(dataDir: string, kept: string): void {
  if (!isOurs(dataDir))
    throw new DataDirError(`${dataDir} was not made by Sluice, so --reset does not delete it.`);
  for (const name of readdirSync(dataDir))
    if (name !== kept) rmSync(join(dataDir, name), { recursive: true, force: true });
}

export function readCredentials(dataDir: string): SluiceCredentials | undefined {
  return readJson<SluiceCredentials>(join(dataDir, credentialsFile));
}

export function writeCredentials(dataDir: string, credentials: SluiceCredentials): void {
  const {
    base_url,
    admin_key,
    workspace_key,
    organisation_id,
    workspace_id,
    workspace_slug,
    demo_provider,
  } = credentials;
  writePrivately(join(dataDir, credentialsFile), {
    base_url,
    admin_key,
    workspace_key,
    organisation_id,
    workspace_id,
    workspace_slug,
    demo_provider,
  });
}

/** Our secrets are the first thing written into a data directory; a run file precedes them. */
function isOurs(dataDir: string): boolean {
  const secrets = readJson<Partial<SluiceSecrets>>(join(dataDir, secretsFile));
  const runFileOnly = readdirSync(dataDir).every((name) => name === 'run.json' || name === 'logs');
  return runFileOnly || typeof secrets?.key_pepper === 'string';
}

function readJson<T>(path: string): T | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (cause) {
    throw new DataDirError(`${path} cannot be read as JSON.`, { cause });
  }
}

/** Readable by its owner only, and never half-written. */
function writePrivately(path: string, value: unknown): void {
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(unfinished, path);
}
