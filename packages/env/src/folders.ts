import { accessSync, constants, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SettingsError } from './define-settings.ts';

/**
 * The folder that a setting names, made if it is not there, each folder above it that is missing by itself: asked for all at once,
 * Node tries for ever where a file system takes no folders.
 * @throws SettingsError when nothing can be written there
 */
export function writableFolder(name: string, path: string, mode?: number): string {
  try {
    makeFolder(path, mode);
    accessSync(path, constants.W_OK | constants.X_OK);
    takeFile(path);
  } catch (error) {
    throw unusable(name, path, error, 'written');
  }
  return path;
}

/** The folder that a setting names, which others fill. @throws SettingsError when it is not there, or cannot be read */
export function readableFolder(name: string, path: string): string {
  try {
    if (!statSync(path).isDirectory()) throw notAFolder(path);
    accessSync(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    throw unusable(name, path, error, 'read');
  }
  return path;
}

function makeFolder(path: string, mode: number | undefined): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  if (found !== undefined) throw notAFolder(path);
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another service makes the same folder.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Rights say nothing of file systems that take no files, as `/proc`. One that is full has what is kept already. */
function takeFile(folder: string): void {
  const path = join(folder, `.sluice-${process.pid}`);
  try {
    writeFileSync(path, '');
    rmSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOSPC' && code !== 'EDQUOT')
      throw Object.assign(error as Error, { path: folder });
  }
}

function notAFolder(path: string): Error {
  return Object.assign(new Error('not a folder'), { code: 'ENOTDIR', path });
}

function unusable(name: string, folder: string, cause: unknown, how: 'written' | 'read') {
  const { code, path } = cause as NodeJS.ErrnoException;
  const at = path === undefined || path === folder ? '' : ` at ${path}`;
  const reasons = how === 'read' ? { ...writing, ...reading } : writing;
  const reason = reasons[code ?? ''] ?? 'the system refuses it';
  return new SettingsError([
    `${name}: the folder ${folder} cannot be ${how}: ${reason} (${code ?? 'no reason given'}${at})`,
  ]);
}

const writing: Readonly<Record<string, string>> = {
  ENOTDIR: 'there is a file in its place, or in that of a folder above it',
  EACCES: 'who runs this has no right to',
  EPERM: 'who runs this has no right to',
  EROFS: 'its file system is read-only',
  ENOENT: 'its file system takes no files and folders',
  ENOSPC: 'its file system is full',
  ENAMETOOLONG: 'its name is too long',
};
const reading: Readonly<Record<string, string>> = { ENOENT: 'it is not there' };
