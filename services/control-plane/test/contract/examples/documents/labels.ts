import { randomUUID } from 'node:crypto';
import { both, type Context, type Examples, made, type PathValues } from '../../example.ts';

const newName = () => `label-${randomUUID()}`;

async function path({ workspace }: Context): Promise<PathValues[]> {
  const { id = '' } = await made(workspace, 'labels.create', { name: newName() });
  return [{ labelId: id }];
}

export const examples: Examples = {
  'labels.list': {
    callers: both,
    names: 'query',
    query: ({ organisationId }) => ({
      organisation_id: organisationId,
      search: 'prod',
    }),
  },
  'labels.create': {
    callers: both,
    names: 'body',
    body: ({ organisationId }) => ({
      organisation_id: organisationId,
      name: newName(),
      description: 'What is tried out',
      color_code: '#ff8800',
    }),
  },
  'labels.read': {
    callers: both,
    names: 'query',
    path,
    query: ({ organisationId }) => ({ organisation_id: organisationId }),
  },
  'labels.update': {
    callers: both,
    path,
    body: () => ({ name: newName(), description: 'Another', color_code: '#0088ff' }),
  },
  'labels.delete': { callers: both, path },
};
