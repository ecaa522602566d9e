import { GatewayError } from '@sluice/errors';
import { StoreError } from '@sluice/object-store';
import { expect, it } from 'vitest';
import { sweeper } from './sweep.ts';

/** A store that does not delete these, and a register of what is to go. */
function example(refused: readonly string[], isAway: boolean) {
  const deleted: string[] = [];
  const noted: object[] = [];
  async function remove(id: string): Promise<void> {
    if (refused.includes(id))
      throw new GatewayError('file.unavailable', { cause: new StoreError('refused', isAway) });
    deleted.push(id);
  }
  const files = { listObsolete: 'list', noteEmptied: 'note' };
  const register = {
    files,
    async ask(method: string, request: object) {
      if (method === 'note') noted.push(request);
      return { files: ['file-1', 'file-2', 'file-3'], batches: ['batch-1', 'batch-2'] };
    },
  };
  const parts = { register, contents: { delete: remove }, store: { deleteAll: remove } };
  return { deleted, noted, swept: sweeper(parts as never) };
}

it('goes on past what the store refuses to delete, which stays to be deleted', async () => {
  const { deleted, noted, swept } = example(['file-1', 'batch-1'], false);
  await expect(swept()).rejects.toThrow(GatewayError);
  expect(deleted).toEqual(['file-2', 'file-3', 'batch-2']);
  expect(noted).toEqual([{ files: ['file-2', 'file-3'], batches: ['batch-2'] }]);
});

it('comes to all of it, however much the store refuses', async () => {
  const there = new Set(Array.from({ length: 180 }, (_, at) => `file-${1000 + at}`));
  const refused = [...there].slice(0, 120);
  const files = { listObsolete: 'list', noteEmptied: 'note' };
  const register = {
    files,
    async ask(method: string, { max = 0, filesAfter = '', files: gone = [] as string[] }) {
      for (const id of gone) there.delete(id);
      const behind = [...there].filter((id) => id > filesAfter);
      return method === 'list' ? { files: behind.slice(0, max), batches: [] } : {};
    },
  };
  async function remove(id: string): Promise<void> {
    if (refused.includes(id)) throw new StoreError('refused', false);
  }
  const swept = sweeper({ register, contents: { delete: remove }, store: {} } as never);
  for (let time = 0; time < 4; time += 1) await swept().catch(() => {});
  expect([...there]).toEqual(refused);
  // What it refused is tried again.
  refused.length = 0;
  for (let time = 0; time < 3; time += 1) await swept();
  expect(there.size).toBe(0);
});

it('asks a store no more that is away, and notes what was deleted', async () => {
  const { deleted, noted, swept } = example(['file-2'], true);
  await expect(swept()).rejects.toThrow(GatewayError);
  expect(deleted).toEqual(['file-1']);
  expect(noted).toEqual([{ files: ['file-1'], batches: [] }]);
});
