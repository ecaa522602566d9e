import type { BatchParts } from './run-batch.ts';

const sweptAtOnce = 50;

/** Empties the store of what was deleted, has expired or was put together. */
export async function sweep({
  register,
  contents,
  store,
}: Pick<BatchParts, 'register' | 'contents' | 'store'>): Promise<void> {
  const { files, batches } = await register.ask(register.files.listObsolete, { max: sweptAtOnce });
  for (const id of files) await contents.delete(id);
  for (const id of batches) await store.deleteAll(id);
  if (files.length + batches.length > 0)
    await register.ask(register.files.noteEmptied, { files, batches });
}
