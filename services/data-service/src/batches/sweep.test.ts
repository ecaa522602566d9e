import { GatewayError } from '@sluice/errors';
import { StoreError } from '@sluice/object-store';
import { expect, it } from 'vitest';
import { sweep } from './sweep.ts';

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
  return { deleted, noted, swept: () => sweep(parts as never) };
}

it('goes on past what the store refuses to delete, which stays to be deleted', async () => {
  const { deleted, noted, swept } = example(['file-1', 'batch-1'], false);
  await expect(swept()).rejects.toThrow(GatewayError);
  expect(deleted).toEqual(['file-2', 'file-3', 'batch-2']);
  expect(noted).toEqual([{ files: ['file-2', 'file-3'], batches: ['batch-2'] }]);
});

it('asks a store no more that is away, and notes what was deleted', async () => {
  const { deleted, noted, swept } = example(['file-2'], true);
  await expect(swept()).rejects.toThrow(GatewayError);
  expect(deleted).toEqual(['file-1']);
  expect(noted).toEqual([{ files: ['file-1'], batches: [] }]);
});
