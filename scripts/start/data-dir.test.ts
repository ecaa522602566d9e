import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@sluice/testkit';
import { expect, it } from 'vitest';
import {
  DataDirError,
  openDataDir,
  readCredentials,
  resetDataDir,
  writeCredentials,
} from './data-dir.ts';

const folder = async () => join(await temporaryFolder('data-dir'), 'data');
const credentials = {
  base_url: 'http://127.0.0.1:8787/v1',
  admin_key: 'a',
  workspace_key: 'w',
  organisation_id: 'o',
  workspace_id: 'i',
  workspace_slug: 's',
  demo_provider: '@demo',
};

it('makes secrets once and keeps them, readable by their owner only', async () => {
  const dataDir = await folder();
  const first = openDataDir(dataDir);
  expect(openDataDir(dataDir)).toEqual(first);
  expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);
  expect(openDataDir(await folder())).not.toEqual(first);
});

it('writes exactly the documented fields of the credentials, readable by their owner only', async () => {
  const dataDir = await folder();
  openDataDir(dataDir);
  expect(readCredentials(dataDir)).toBeUndefined();
  writeCredentials(dataDir, { ...credentials, more: 'x' } as typeof credentials);
  expect(JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))).toEqual(credentials);
  expect(statSync(join(dataDir, 'credentials.json')).mode & 0o777).toBe(0o600);
});

it('neither uses nor deletes a directory with somebody else’s files', async () => {
  const dataDir = await temporaryFolder('data-dir');
  writeFileSync(join(dataDir, 'thesis.txt'), 'years of work');
  expect(() => openDataDir(dataDir)).toThrow(DataDirError);
  expect(() => resetDataDir(dataDir, 'run.json')).toThrow('was not made by Sluice');
  expect(existsSync(join(dataDir, 'thesis.txt'))).toBe(true);
});

it('deletes its own data on reset, and then starts with new secrets', async () => {
  const dataDir = await folder();
  const before = openDataDir(dataDir);
  resetDataDir(dataDir, 'run.json');
  expect(openDataDir(dataDir)).not.toEqual(before);
});
