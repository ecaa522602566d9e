import { randomUUID } from 'node:crypto';
import { both, type Context, type Examples, made, type PathValues, random } from '../../example.ts';

async function path({ workspace }: Context): Promise<PathValues[]> {
  const { id = '', slug = '' } = await made(workspace, 'collections.create', { name: 'Made' });
  return [{ collectionId: slug }, { collectionId: id }];
}

export const examples: Examples = {
  'collections.list': {
    callers: both,
    names: 'query',
    query: () => ({ search: 'a' }),
  },
  'collections.create': {
    callers: both,
    names: 'body',
    body: () => ({
      name: `Support ${randomUUID()}`,
      slug: `support-${random()}`,
      parent_collection_id: 'default',
    }),
  },
  'collections.read': { callers: both, names: 'query', path },
  'collections.update': {
    callers: both,
    names: 'query',
    path,
    body: () => ({ name: 'Renamed', parent_collection_id: 'default' }),
  },
  'collections.delete': { callers: both, names: 'query', path },
};
