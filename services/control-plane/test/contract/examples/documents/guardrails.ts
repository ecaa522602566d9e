import { both, type Context, type Examples, made, random } from '../../example.ts';

const feedback = (value: number) => ({
  feedback: { value, weight: 0.5, metadata: 'by the guardrail' },
});
const content = {
  name: 'Content safety',
  checks: [
    {
      id: 'default.regexMatch',
      name: 'No card numbers',
      is_enabled: true,
      parameters: { rule: '\\d{16}', not: true },
    },
    {
      id: 'default.webhook',
      parameters: {
        webhookURL: 'https://hooks.example/check',
        headers: { 'x-token': 'a-token-of-the-hook' },
      },
    },
  ],
  actions: {
    deny: true,
    async: false,
    sequential: true,
    stream_mode: 'window',
    hold_chars: 512,
    hold_ms: 2_000,
    on_success: feedback(5),
    on_fail: feedback(-5),
  },
};

async function guardrail({ workspace }: Context) {
  const { id, slug } = await made(workspace, 'guardrails.create', content);
  const published = slug?.replace(/^pg-/, 'guard_');
  return [id, slug, published].map((guardrailId) => ({ guardrailId: guardrailId ?? '' }));
}

export const examples: Examples = {
  'guardrails.list': {
    callers: both,
    names: 'query',
    query: ({ organisationId }) => ({
      organisation_id: organisationId,
      ids: `pg-none,${organisationId}`,
    }),
  },
  'guardrails.create': {
    callers: both,
    names: 'body',
    body: ({ organisationId }) => ({
      organisation_id: organisationId,
      slug: `no-cards-${random()}`,
      ...content,
    }),
  },
  'guardrails.read': { callers: both, path: guardrail, missing: 403 },
  'guardrails.update': { callers: both, path: guardrail, missing: 403, body: () => content },
  'guardrails.delete': { callers: both, path: guardrail, missing: 403 },
};
