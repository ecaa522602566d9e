import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPerson } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
let isBusy = false;
let graphRequest: analytics.GetGraphRequest | undefined;
let summaryRequest: analytics.GetSummaryRequest | undefined;
let groupRequest: analytics.ListGroupsRequest | undefined;
beforeAll(async () => {
  h = await startHarness({
    analytics: {
      async getGraph(request) {
        graphRequest = request;
        return {
          summary: { total: 3, avg: 1.5, p50: 2, p90: 3, p99: 4, other: 9 },
          dataPoints: [
            {
              timestampMs: 1735689600000n,
              key: '429',
              values: { total: 3, avg: 1.5, count: 5, fallback: 6, avg_weighted_feedback: -0.5 },
              parts: [{ key: '2', value: 7 }],
            },
          ],
        };
      },
      async getSummary(request) {
        if (isBusy) throw new GatewayError('admin.analytics_busy');
        summaryRequest = request;
        return { values: { hits: 1, avg_latency: 2.5, total_requests: 4, cache_speedup: 50 } };
      },
      async listGroups(request) {
        groupRequest = request;
        const value = request.group === analytics.Group.STATUS_CODE ? '429' : 'gpt-4o';
        const values = { avg_tokens: 2, requests_with_feedback: 1, last_seen: 1735689600000 };
        return { total: 12n, rows: [{ value, requests: 7n, cost: 1.25, values }] };
      },
    },
  });
});
afterAll(() => h.stop());

const range =
  'time_of_generation_min=2025-01-01T00:00:00%2B01:00&time_of_generation_max=2025-01-02T00:00:00 00:00';

describe('analytics', () => {
  it.each([
    ['requests', { total: 3 }, { total: 3 }],
    ['cost', { total: 3, avg: 1.5, unpriced: 0 }, { total: 3, avg: 1.5, unpriced: 0 }],
    ['tokens', { total: 3, avg: 1.5 }, { total: 3, avg: 1.5 }],
    ['latency', { avg: 1.5, p50: 2, p90: 3, p99: 4 }, { avg: 1.5, p50: 0, p90: 0, p99: 0 }],
  ])('shows the graph of %s in the published shape', async (name, summary, point) => {
    const answer = await h.as(h.first.workspace_key).get(`/analytics/graphs/${name}?${range}`);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        summary,
        data_points: [{ timestamp: '2025-01-01T00:00:00.000Z', ...point }],
        object: 'analytics-graph',
      },
    ]);
  });

  const timestamp = '2025-01-01T00:00:00.000Z';
  it.each([
    ['users', { total: 3 }, { timestamp, total: 3 }],
    ['users/requests', { total: 3, unique: 0, avg: 1.5 }, { timestamp, avg: 1.5 }],
    ['errors', { total: 3 }, { timestamp, total: 3 }],
    ['errors/rate', { rate: 0 }, { timestamp, rate: 0 }],
    ['errors/stacks', { total: 3 }, { timestamp, stats: [{ response_status_code: 2, count: 7 }] }],
    [
      'errors/status-codes',
      { total_errors: 0, unique_error_codes: 0 },
      { status_code: 429, count: 5 },
    ],
    [
      'requests/rescued',
      { retry: 0, fallback: 0 },
      { timestamp, retry: [{ retry_success_count: 2, count: 7 }], fallback: 6 },
    ],
    [
      'cache/hit-rate',
      { total: 3, rate: 0 },
      {
        timestamp,
        simple_hits: 0,
        semantic_hits: 0,
        rate: 0,
        cumulative_simple_cache_savings: 0,
        cumulative_semantic_cache_savings: 0,
      },
    ],
    ['cache/latency', {}, { timestamp, avg: 1.5 }],
    ['feedbacks', { total: 3 }, { timestamp, total: 3 }],
    ['feedbacks/scores', { total: 3 }, { score: 429, total: 3 }],
    ['feedbacks/weighted', { avg: 1.5 }, { timestamp, avg: 1.5 }],
    ['feedbacks/ai-models', {}, { ai_model: '429', total: 3, avg_weighted_feedback: -0.5 }],
  ])('shows the graph of %s as it is published', async (name, summary, point) => {
    const answer = await h.as(h.first.workspace_key).get(`/analytics/graphs/${name}?${range}`);
    expect([answer.status, answer.body]).toEqual([
      200,
      { summary, data_points: [point], object: 'analytics-graph' },
    ]);
  });

  it('shows the summary of the cache', async () => {
    const answer = await h.as(h.first.workspace_key).get(`/analytics/summary/cache?${range}`);
    expect(answer.body).toEqual({
      summary: { hits: 1, avg_latency: 2.5, total_requests: 4, cache_speedup: 50 },
      object: 'analytics-summary',
    });
    expect(summaryRequest?.filter?.workspaceIds).toEqual([h.first.workspace_id]);
  });

  const object = 'analytics-group';
  it.each([
    ['analytics/groups/users', { user: 'gpt-4o', requests: '7', cost: '1.25', object }],
    [
      'analytics/groups/metadata/a%2Fteam',
      {
        metadata_value: 'gpt-4o',
        requests: 7,
        cost: 1.25,
        avg_tokens: 2,
        avg_weighted_feedback: 0,
        requests_with_feedback: 1,
        last_seen: timestamp,
        object,
      },
    ],
    ['analytics/groups/ai_service', { ai_service: 'gpt-4o', requests: 7, object }],
    ['analytics/groups/status_code', { status_code: 429, requests: 7, object }],
    ['logs/groups/prompt', { prompt: 'gpt-4o', requests: 7, object }],
  ])('lists %s as it is published', async (path, row) => {
    const answer = await h.as(h.first.workspace_key).get(`/${path}?${range}`);
    expect([answer.status, answer.body]).toEqual([200, { object: 'list', total: 12, data: [row] }]);
    if (path.includes('metadata')) expect(groupRequest?.metadataKey).toBe('a/team');
  });

  it('has no page of nothing', async () => {
    const answer = await h
      .as(h.first.workspace_key)
      .get(`/analytics/groups/model?${range}&page_size=0`);
    expect([answer.status, answer.body.data.field]).toEqual([400, 'query.page_size']);
  });

  it('tells the total of logs on the first page, also where an empty cursor asks for it', async () => {
    for (const [cursor, total] of [
      ['', 1],
      ['&cursor=', 1],
      ['&cursor=MTcz', undefined],
    ] as const) {
      const answer = await h.as(h.first.workspace_key).get(`/logs?${range}${cursor}`).expect(200);
      expect(answer.body.total).toBe(total);
    }
  });

  it('shows the columns that are asked for, in the order that is asked for', async () => {
    const answer = await h
      .as(h.first.workspace_key)
      .get(
        `/analytics/groups/model?${range}&columns=avg_tokens,last_seen&order_by=cost&order_by_type=ASC`,
      );
    expect(answer.body.data).toEqual([
      { model: 'gpt-4o', requests: 7, avg_tokens: 2, last_seen: timestamp, object },
    ]);
    expect(groupRequest).toMatchObject({
      columns: ['avg_tokens', 'last_seen'],
      orderBy: 'cost',
      ascending: true,
    });
  });

  it.each([
    ['columns=cost,secret', 'query.columns[1]'],
    ['order_by=requests;DROP TABLE usage_records', 'query.order_by'],
    ['order_by=metadata', 'query.order_by'],
    ['order_by_type=sideways', 'query.order_by_type'],
  ])('refuses to list groups by %s', async (query, field) => {
    const answer = await h
      .as(h.first.workspace_key)
      .get(`/analytics/groups/model?${range}&${encodeURI(query)}`);
    expect([answer.status, answer.body.data.field]).toEqual([400, field]);
  });

  it('knows no group by what is none', async () => {
    await h.as(h.first.workspace_key).get(`/analytics/groups/secret?${range}`).expect(404);
  });

  it('compares workspaces over all of an organisation, by slug', async () => {
    await h.as(h.first.admin_key).get(`/analytics/groups/workspace?${range}`).expect(200);
    expect(groupRequest?.filter?.workspaceIds).toEqual([]);
    expect(groupRequest?.filter?.organisationId).toBe(h.first.organisation_id);
    await h.as(h.first.workspace_key).get(`/analytics/groups/workspace?${range}`).expect(200);
    expect(groupRequest?.filter?.workspaceIds).toEqual([h.first.workspace_id]);
  });

  it('shows models with their requests as text', async () => {
    const answer = await h
      .as(h.first.workspace_key)
      .get(`/analytics/groups/ai-models?${range}&page_size=5&current_page=2`);
    expect(answer.body).toEqual({
      object: 'list',
      total: 12,
      data: [{ ai_model: 'gpt-4o', requests: '7', object: 'analytics-group' }],
    });
    expect(groupRequest).toMatchObject({ pageSize: 5, currentPage: 2 });
  });

  it('passes every filter on, and the workspace it may see', async () => {
    const shouted = '0198AB00-0000-7000-8000-00000000000F';
    const filters = [
      'total_units_min=1',
      'total_units_max=2',
      'prompt_token_min=3',
      'prompt_token_max=4',
      'completion_token_min=5',
      'completion_token_max=6',
      'cost_min=0.5',
      'cost_max=7',
      'status_code=200,429',
      'virtual_keys=a,b',
      `configs=c,C,${shouted}`,
      `api_key_ids=K,${shouted}`,
      'trace_id=t',
      'span_id=s',
      'prompt_slug=p',
      'ai_org_model=openai__gpt-4o',
      `metadata=${encodeURIComponent('{"_user":"u","n":1}')}`,
      'weighted_feedback_min=-9.5',
      'weighted_feedback_max=0',
      'workspace_slug=ws-of-someone-else',
    ].join('&');
    await h.as(h.first.workspace_key).get(`/analytics/graphs/cost?${range}&${filters}`).expect(200);
    expect(graphRequest?.filter).toMatchObject({
      organisationId: h.first.organisation_id,
      workspaceIds: [h.first.workspace_id],
      fromMs: BigInt(Date.parse('2024-12-31T23:00:00Z')),
      toMs: BigInt(Date.parse('2025-01-02T00:00:00Z')),
      totalUnitsMin: 1n,
      totalUnitsMax: 2n,
      promptTokenMin: 3n,
      promptTokenMax: 4n,
      completionTokenMin: 5n,
      completionTokenMax: 6n,
      costMin: 0.5,
      costMax: 7,
      weightedFeedbackMin: -9.5,
      weightedFeedbackMax: 0,
      statusCodes: [200, 429],
      virtualKeys: ['a', 'b'],
      // Ids in whatever case; a slug is what it is.
      configs: ['c', 'C', shouted.toLowerCase()],
      apiKeyIds: ['K', shouted.toLowerCase()],
      traceIds: ['t'],
      spanIds: ['s'],
      promptSlugs: ['p'],
      aiOrgModels: ['openai__gpt-4o'],
      metadata: { _user: 'u', n: '1' },
    });
  });

  it('takes the default workspace for an organisation key, or the one it names', async () => {
    const admin = h.as(h.first.admin_key);
    await admin.get(`/analytics/graphs/cost?${range}`).expect(200);
    expect(graphRequest?.filter?.workspaceIds).toEqual([h.first.workspace_id]);
    const second = await admin.post('/admin/workspaces', { name: 'Second' });
    const row = await h.db.workspace.findFirstOrThrow({ where: { slug: second.body.id } });
    await admin.get(`/analytics/graphs/cost?${range}&workspace_slug=${second.body.id}`).expect(200);
    expect(graphRequest?.filter?.workspaceIds).toEqual([row.id]);
    await admin.get(`/analytics/graphs/cost?${range}&workspace_id=${row.id}`).expect(200);
    expect(graphRequest?.filter?.workspaceIds).toEqual([row.id]);
    const both = `workspace_id=${row.id}&workspace_slug=${row.slug}`;
    await admin.get(`/analytics/graphs/cost?${range}&${both}`).expect(200);
    for (const [names, status, field] of [
      ['workspace_id=ws-nowhere', 404, 'query.workspace_id'],
      [`${both}&workspace_id=${row.id}`, 400, 'query.workspace_id'],
      [
        `workspace_id=${row.id}&workspace_slug=${h.first.workspace_slug}`,
        400,
        'query.workspace_id',
      ],
    ] as const)
      for (const path of ['/analytics/graphs/cost', '/analytics/groups/workspace', '/logs']) {
        const answer = await admin.get(`${path}?${range}&${names}`);
        expect([path, answer.status, answer.body.data?.field]).toEqual([path, status, field]);
      }
    await admin
      .get(`/analytics/graphs/cost?${range}&workspace_slug=${h.other.workspace_slug}`)
      .expect(404);
  });

  it.each<[query: string, field: string]>([
    ['time_of_generation_min=2025-01-01T00:00:00Z', 'query.time_of_generation_max'],
    [
      'time_of_generation_min=2025-01-02T00:00:00Z&time_of_generation_max=2025-01-01T00:00:00Z',
      'query.time_of_generation_max',
    ],
    ...['total_units', 'prompt_token', 'completion_token', 'cost', 'weighted_feedback'].map(
      (name): [string, string] => [`${range}&${name}_min=5&${name}_max=4`, `query.${name}_max`],
    ),
    [`${range}&cost_min=-1`, 'query.cost_min'],
    [`${range}&total_units_min=1.5`, 'query.total_units_min'],
    [`${range}&status_code=200,abc`, 'query.status_code[1]'],
    [`${range}&metadata=[]`, 'query.metadata'],
    [`${range}&weighted_feedback_min=-11`, 'query.weighted_feedback_min'],
  ])('refuses %s', async (query, field) => {
    const answer = await h.as(h.first.workspace_key).get(`/analytics/graphs/cost?${query}`);
    expect([answer.status, answer.body.data.errorCode, answer.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  describe('show a person what data_visibility lets them see', () => {
    const settings = '/admin/organisation/settings';
    const people: Record<string, { userId: string; key: string }> = {};
    beforeAll(async () => {
      for (const role of ['admin', 'manager', 'member'] as const)
        people[role] = await createPerson(h, role, h.first.workspace_id);
      const owner = await createPerson(h, 'member', h.first.workspace_id);
      await h.db.user.update({ where: { id: owner.userId }, data: { role: 'owner' } });
      people.owner = owner;
    });
    afterEach(() =>
      h
        .as(h.first.admin_key)
        .put(settings, { data_visibility: null, workspace_overrides: { data_visibility: false } })
        .expect(200),
    );

    /** Whose requests the ledger was asked for, by each way of asking. */
    async function seen(key: string, filters = ''): Promise<(string | undefined)[]> {
      const caller = h.as(key);
      const asked: (string | undefined)[] = [];
      for (const graph of ['requests', 'cost', 'users', 'errors/status-codes', 'feedbacks']) {
        await caller.get(`/analytics/graphs/${graph}?${range}${filters}`).expect(200);
        asked.push(graphRequest?.filter?.userId);
      }
      for (const group of [
        'groups/ai-models',
        'groups/users',
        'groups/metadata/_user',
        'groups/model',
      ]) {
        await caller.get(`/analytics/${group}?${range}${filters}`).expect(200);
        asked.push(groupRequest?.filter?.userId);
      }
      await caller.get(`/logs/groups/workspace?${range}${filters}`).expect(200);
      asked.push(groupRequest?.filter?.userId);
      await caller.get(`/analytics/summary/cache?${range}${filters}`).expect(200);
      asked.push(summaryRequest?.filter?.userId);
      return [...new Set(asked)];
    }
    const restrict = (managersViewAllData: boolean, membersViewAllData: boolean) =>
      h
        .as(h.first.admin_key)
        .put(settings, { data_visibility: { managersViewAllData, membersViewAllData } })
        .expect(200);
    const own = (role: string) => [people[role]?.userId];
    const keyOf = (role: string) => people[role]?.key ?? '';

    it.each([
      [true, true, []],
      [false, true, ['manager']],
      [true, false, ['member']],
      [false, false, ['manager', 'member']],
    ])('managers all: %s, members all: %s', async (managers, members, restricted: string[]) => {
      await restrict(managers, members);
      for (const role of Object.keys(people))
        expect([role, await seen(keyOf(role))]).toEqual([
          role,
          restricted.includes(role) ? own(role) : [undefined],
        ]);
      expect(await seen(h.first.workspace_key)).toEqual([undefined]);
      expect(await seen(h.first.admin_key)).toEqual([undefined]);
    });

    it('whatever they filter by', async () => {
      await restrict(false, false);
      const filters = `&api_key_ids=others&metadata=${encodeURIComponent('{"_user":"other"}')}`;
      expect(await seen(keyOf('member'), filters)).toEqual(own('member'));
      expect(graphRequest?.filter?.apiKeyIds).toEqual(['others']);
    });

    it('as the workspace decides, where it may', async () => {
      const ofWorkspace = `/admin/workspaces/${h.first.workspace_slug}/settings`;
      const off = { data_visibility: { membersViewAllData: false } };
      await h
        .as(h.first.admin_key)
        .put(settings, { workspace_overrides: { data_visibility: true } })
        .expect(200);
      await h.as(h.first.admin_key).put(ofWorkspace, off).expect(200);
      expect(await seen(keyOf('member'))).toEqual(own('member'));
      expect(await seen(keyOf('manager'))).toEqual([undefined]);
    });
  });

  it('answers 503 when the data service is asked more than it answers, and says when to ask again', async () => {
    isBusy = true;
    try {
      const answer = await h.as(h.first.workspace_key).get(`/analytics/summary/cache?${range}`);
      expect([answer.status, answer.body.data.code]).toEqual([503, 'admin.analytics_busy']);
      expect(answer.headers['retry-after']).toBe('5');
    } finally {
      isBusy = false;
    }
  });

  it('answers 503 when the data service cannot be reached', async () => {
    const alone = await startHarness();
    try {
      const answer = await alone
        .as(alone.first.workspace_key)
        .get(`/analytics/graphs/cost?${range}`);
      expect([answer.status, answer.body.data.code]).toEqual([503, 'admin.analytics_unavailable']);
      expect(answer.headers['retry-after']).toBe('5');
    } finally {
      await alone.stop();
    }
  });
});
