import {
  FolderStore,
  type ListOptions,
  type LogFormat,
  logPath,
  StoreError,
} from '@sluice/object-store';
import { temporaryFolder } from '@sluice/testkit';
import { expect, it } from 'vitest';
import type { Database } from '../../kernel/database/client.ts';
import { eraseContent } from './erase-content.ts';
import { keepLedger } from './keep-ledger.ts';

const now = new Date('2026-11-22T12:00:00Z');
const dayMs = 86_400_000;

it('erases what is older than its organisation keeps, in both layouts, and nothing else', async () => {
  const store = new FolderStore(await temporaryFolder('erase-content'));
  const organisations = [
    { id: 'org-short', settings: { retention: { logs_days: 7 } } },
    { id: 'org-long', settings: {} },
  ];
  const db = {
    organisation: { findMany: async () => organisations },
  } as Partial<Database> as Database;
  const kept: string[] = [];
  const put = async (key: string, stays: boolean) => {
    await store.put(key, Buffer.from('{}'));
    if (stays) kept.push(key);
  };
  for (const [organisationId, days] of [
    ['org-short', 7],
    ['org-long', 90],
  ] as const)
    for (const format of ['v1', 'v2'] as LogFormat[])
      for (const workspaceSlug of ['ws-a', 'ws-b'])
        for (const age of [0, 1, 6, 8, 89, 91, 400]) {
          const logId = idOf(now.getTime() - age * dayMs, format, workspaceSlug);
          await put(logPath(format, { organisationId, workspaceSlug, logId }), age < days);
        }
  await put('30/org-short/0-notes.txt', true);
  await put('exports/org-short/1.jsonl', true);
  await put(`30/org-gone/${idOf(0, 'v1', '')}.json`, true);

  await eraseContent({ db, store, now }, new AbortController().signal);
  const { keys } = await store.list('');
  expect([...keys].sort()).toEqual(kept.sort());
});

it('goes on past what the store refuses to delete, and says so in the end', async () => {
  const kept = new FolderStore(await temporaryFolder('erase-refused'));
  const organisations = ['org-first', 'org-next'].map((id) => ({ id, settings: {} }));
  const db = {
    organisation: { findMany: async () => organisations },
  } as Partial<Database> as Database;
  const refused: string[] = [];
  for (const { id: organisationId } of organisations)
    for (const age of [100, 200, 300]) {
      const logId = idOf(now.getTime() - age * dayMs, 'v1', 'ws-a');
      const key = logPath('v1', { organisationId, workspaceSlug: 'ws-a', logId });
      await kept.put(key, Buffer.from('{}'));
      if (organisationId === 'org-first' && age === 300) refused.push(key);
    }
  const refusing = (isAway: boolean) => ({
    // A page of the listing a call.
    list: (prefix: string, options?: ListOptions) => kept.list(prefix, { ...options, max: 1 }),
    async delete(keys: readonly string[]) {
      if (keys.some((key) => refused.includes(key))) throw new StoreError('refused', isAway);
      await kept.delete(keys);
    },
  });
  const erased = (isAway: boolean) =>
    eraseContent({ db, store: refusing(isAway), now }, new AbortController().signal);
  // Of one that is away nothing more is wanted.
  await expect(erased(true)).rejects.toThrow('refused');
  expect((await kept.list('')).keys).toHaveLength(6);
  await expect(erased(false)).rejects.toThrow('refused');
  expect((await kept.list('')).keys).toEqual(refused);
});

it('tells the ledger of the organisations that keep longer or shorter than others', async () => {
  const organisations = [
    { id: 'org-short', settings: { retention: { logs_days: 40 } } },
    { id: 'org-figures', settings: { retention: { figures_days: 700 } } },
    { id: 'org-plain', settings: {} },
  ];
  const db = {
    organisation: { findMany: async () => organisations },
  } as Partial<Database> as Database;
  const told: unknown[] = [];
  await keepLedger(db, { keep: async (request) => void told.push(request) });
  expect(told).toEqual([
    {
      others: { logsDays: 90, figuresDays: 365 },
      organisations: {
        'org-short': { logsDays: 40, figuresDays: 365 },
        'org-figures': { logsDays: 90, figuresDays: 700 },
      },
    },
  ]);
});

function idOf(atMs: number, format: string, slug: string): string {
  const hex = atMs.toString(16).padStart(12, '0');
  const own = `${format === 'v1' ? '1' : '2'}${slug === 'ws-a' ? 'a' : 'b'}`.padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${own}`;
}
