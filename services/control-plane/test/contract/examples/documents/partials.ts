import { both, type Context, type Examples, made, type PathValues, random } from '../../example.ts';

async function path({ workspace }: Context): Promise<PathValues[]> {
  const body = { name: 'Example', string: 'Be {{how}}.' };
  const { id = '', slug = '' } = await made(workspace, 'partials.create', body);
  return [{ promptPartialId: slug }, { promptPartialId: id }];
}

const share = ({ workspaceSlug }: Context) => ({ workspaces: [workspaceSlug] });

async function collectionOf({ workspace }: Context): Promise<string> {
  const { id = '' } = await made(workspace, 'collections.create', { name: 'Made' });
  return id;
}

export const examples: Examples = {
  'partials.list': {
    callers: both,
    names: 'query',
    query: () => ({
      collection_id: 'default',
      show_prompt_share: 'true',
    }),
  },
  'partials.create': {
    callers: both,
    names: 'body',
    body: async (context) => ({
      name: 'Example',
      slug: `tone-${random()}`,
      string: 'Be {{how}}.',
      version_description: 'The first',
      collection_id: await collectionOf(context),
    }),
  },
  'partials.read': { callers: both, names: 'query', path },
  'partials.update': {
    callers: both,
    names: 'query',
    path,
    body: async (context) => ({
      name: 'Another',
      string: 'Be very {{how}}.',
      description: 'Stronger',
      status: 'active',
      collection_id: await collectionOf(context),
    }),
  },
  'partials.delete': { callers: both, names: 'query', path },
  'partials.versions.list': {
    callers: both,
    names: 'query',
    path,
  },
  'partials.publish': { callers: both, names: 'query', path, body: () => ({ version: 1 }) },
  'partials.share.create': { callers: both, names: 'query', path, body: share },
  'partials.share.update': { callers: both, names: 'query', path, body: share },
  'partials.share.delete': { callers: both, names: 'query', path },
  'partials.fork': {
    callers: both,
    names: 'body',
    path,
    body: async (context) => ({ name: 'A copy', collection_id: await collectionOf(context) }),
  },
};
