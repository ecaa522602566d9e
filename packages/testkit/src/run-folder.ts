import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'SLUICE_TEST_RUN_FOLDER';

const namePrefix = 'sluice-test-';
/** With the id of the process that removes the folder. */
const ownerFile = 'owner';
/** No run takes so long. */
const forgottenAfterMs = 3_600_000;

/** Files in memory, where Linux has them. */
const memoryFiles = '/dev/shm';
/** Twice what a whole run writes. */
const roomMin = 10 * 1024 ** 3;

/**
 * One folder for everything a test run writes. Workers find it through the
 * environment; the global set-up creates and removes it, because a worker that
 * the runner ends has no chance to tidy up.
 */
export function createRunFolder(): string {
  const place = placeForRun();
  removeForgotten(place);
  const folder = mkdtempSync(join(place, namePrefix));
  writeFileSync(join(folder, ownerFile), String(process.pid));
  mkdirSync(join(folder, 'pids'));
  // Postgres may run as another user, who must be able to pass.
  chmodSync(folder, 0o711);
  process.env[variable] = folder;
  // Services are started dozens of times in a run, and each test file in a process of its own.
  process.env.NODE_COMPILE_CACHE = join(folder, 'compile-cache');
  return folder;
}

/**
 * A run makes and removes hundreds of thousands of small files that nobody wants to find after a power cut: to look
 * for room on a disk is a quarter of what an insert costs the ledger. Not where memory is short, or the place is told.
 */
function placeForRun(): string {
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(memoryFiles);
    const room = Math.min(bavail * bsize, process.availableMemory());
    return room < roomMin ? tmpdir() : memoryFiles;
  } catch {
    return tmpdir();
  }
}

/** Folders of runs that were killed before they could remove them: in memory they would stay until the machine ends. */
function removeForgotten(place: string): void {
  for (const name of readdirSync(place).filter((each) => each.startsWith(namePrefix))) {
    try {
      const owner = join(place, name, ownerFile);
      if (Date.now() - statSync(owner).mtimeMs < forgottenAfterMs) continue;
      if (!isAlive(Number(readFileSync(owner, 'utf8'))))
        rmSync(join(place, name), { recursive: true, force: true });
    } catch {
      // It says nothing of its owner, or is somebody else's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Ends servers that tests left running and deletes what the run wrote. */
export function removeRunFolder(folder: string): void {
  for (const pid of readdirSync(join(folder, 'pids'))) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended since.
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** An empty folder for this test, deleted with the run. */
export function temporaryFolder(name: string): Promise<string> {
  return mkdtemp(join(process.env[variable] ?? tmpdir(), `${name}-`));
}

/** A file of the whole run; workers that know its name share it. */
export function runFile(name: string): string {
  return join(process.env[variable] ?? tmpdir(), name);
}

/** Where Node keeps compiled sources during the run. */
export function compileCacheDir(): string | undefined {
  return process.env.NODE_COMPILE_CACHE;
}

/** Notes a server so that the end of the run ends it too. Returns what takes the note back. */
export function noteServer(pid: number): () => void {
  const folder = process.env[variable];
  if (folder === undefined) return () => {};
  const note = join(folder, 'pids', String(pid));
  writeFileSync(note, '');
  return () => rmSync(note, { force: true });
}
