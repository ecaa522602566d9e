import { both, type Context, type Examples, random } from '../../example.ts';

const document = { provider: '@demo', retry: { attempts: 2 }, api_key: 'sk-config-secret-0001' };

/** Its answer is wrapped, so it is not made with `made`. */
const path = async ({ workspace }: Context) => {
  const { body } = await workspace.post('/configs', { name: 'Made', config: document }).expect(200);
  return [{ slug: body.data.slug }, { slug: body.data.id }];
};

export const examples: Examples = {
  'configs.list': { callers: both, names: 'query' },
  'configs.create': {
    callers: both,
    names: 'body',
    body: () => ({
      name: 'A config',
      slug: `fast-${random()}`,
      config: document,
      isDefault: 0,
      is_default: false,
    }),
  },
  'configs.read': { callers: both, names: 'query', path },
  'configs.update': {
    callers: both,
    names: 'query',
    path,
    body: () => ({
      name: 'A config',
      config: document,
      status: 'active',
      isDefault: 0,
      is_default: false,
    }),
  },
  'configs.delete': { callers: both, names: 'query', path },
  'configs.versions': { callers: both, names: 'query', path },
};
