import { both, type Context, type Examples, made } from '../../example.ts';

const content = ({ workspaceSlug }: Context) => ({
  filters: {
    time_of_generation_min: '2026-01-01T00:00:00Z',
    time_of_generation_max: '2026-02-01T00:00:00Z',
    total_units_min: 1,
    total_units_max: 1000,
    cost_min: 0.5,
    cost_max: 10,
    ai_model: 'gpt-4o',
    prompt_token_min: 1,
    prompt_token_max: 500,
    completion_token_min: 1,
    completion_token_max: 500,
    status_code: '200,246',
    metadata: { _user: 'ada' },
    ai_org_model: 'openai__gpt-4o',
    weighted_feedback_min: -5,
    weighted_feedback_max: 5,
    virtual_keys: 'main',
    trace_id: 'a-trace',
    configs: 'pc-main',
    workspace_slug: workspaceSlug,
    prompt_slug: 'pp-greeting',
    page_size: 50_000,
    current_page: 0,
  },
  requested_data: ['id', 'trace_id', 'cost', 'metadata'],
  description: 'January',
  format: 'jsonl',
  all: false,
});

async function draft(context: Context) {
  const { id } = await made(context.workspace, 'log-exports.create', content(context));
  return [{ exportId: id ?? '' }];
}

async function done(context: Context) {
  const [named] = await draft(context);
  await context.h.db.logExport.update({
    where: { id: named!.exportId },
    data: { status: 'success', objectKey: 'exports/' },
  });
  return [named!];
}

export const examples: Examples = {
  'log-exports.field-restrictions': { callers: both, names: 'query' },
  'log-exports.list': { callers: both, names: 'query' },
  'log-exports.create': { callers: both, names: 'body', body: content },
  'log-exports.read': { callers: both, path: draft },
  'log-exports.update': { callers: both, names: 'body', path: draft, body: content },
  'log-exports.start': { callers: both, path: draft },
  'log-exports.cancel': { callers: both, path: draft },
  'log-exports.download': { callers: both, path: done },
};
