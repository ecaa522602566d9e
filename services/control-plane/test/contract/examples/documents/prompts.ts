import { both, type Context, type Examples, made, type PathValues, random } from '../../example.ts';

const content = {
  string: JSON.stringify([{ role: 'user', content: 'Say {{word}}' }]),
  parameters: { temperature: 0.2, max_tokens: 50 },
  model: 'demo-chat',
  virtual_key: 'demo',
  functions: [{ name: 'look_up', parameters: { type: 'object' } }],
  tools: [{ type: 'function', function: { name: 'look_up' } }],
  tool_choice: { type: 'function', function: { name: 'look_up' } },
  version_description: 'Shorter',
  is_raw_template: 0,
};

function collectionOf({ workspace }: Context): Promise<string> {
  return made(workspace, 'collections.create', { name: 'Made' }).then(({ id = '' }) => id);
}

async function createPrompt(context: Context) {
  const collection = await collectionOf(context);
  const body = { ...content, name: 'Blog outline', collection_id: collection };
  return made(context.workspace, 'prompts.create', body);
}

async function path(context: Context): Promise<PathValues[]> {
  const { id = '', slug = '' } = await createPrompt(context);
  return [{ promptId: slug }, { promptId: id }];
}

async function versionPath(context: Context): Promise<PathValues[]> {
  const { id = '', slug = '', version_id: versionId = '' } = await createPrompt(context);
  return [
    { promptId: slug, versionId },
    { promptId: id, versionId },
  ];
}

async function labelOf({ h, organisationId }: Context): Promise<string> {
  const label = await h.db.label.findFirstOrThrow({
    where: { organisationId, name: 'production' },
  });
  return label.id;
}

const share = ({ workspaceSlug }: Context) => ({ workspaces: [workspaceSlug] });

export const examples: Examples = {
  'prompts.list': {
    callers: both,
    names: 'query',
    query: () => ({
      collection_id: 'default',
      search: 'b',
      show_prompt_share: 'true',
    }),
  },
  'prompts.create': {
    callers: both,
    names: 'body',
    body: async (context) => ({
      ...content,
      name: 'Blog outline',
      slug: `outline-${random()}`,
      collection_id: await collectionOf(context),
      template_metadata: { template_type: 'chat' },
    }),
  },
  'prompts.read': { callers: both, names: 'query', path },
  'prompts.update': {
    callers: both,
    names: 'query',
    path,
    body: async (context) => ({
      ...content,
      patch: true,
      name: 'Blog outlines',
      collection_id: await collectionOf(context),
      prompt_metadata: { template_type: 'chat' },
      template_metadata: { template_type: 'chat' },
    }),
  },
  'prompts.delete': { callers: both, names: 'query', path },
  'prompts.versions.list': {
    callers: both,
    names: 'query',
    path,
  },
  'prompts.versions.read': { callers: both, names: 'query', path: versionPath },
  'prompts.versions.update': {
    callers: both,
    names: 'query',
    path: versionPath,
    body: async (context) => ({ label_id: await labelOf(context) }),
  },
  'prompts.publish': { callers: both, names: 'query', path, body: () => ({ version: 1 }) },
  'prompts.share.create': { callers: both, names: 'query', path, body: share },
  'prompts.share.update': { callers: both, names: 'query', path, body: share },
  'prompts.share.delete': { callers: both, names: 'query', path },
  'prompts.fork': {
    callers: both,
    names: 'body',
    path,
    body: async (context) => ({
      name: 'A copy',
      collection_id: await collectionOf(context),
      virtual_key: 'demo',
    }),
  },
};
