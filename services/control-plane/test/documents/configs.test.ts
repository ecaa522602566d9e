import { ownTime } from '@sluice/testkit/own-time';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';
import { whenNotBusy } from '../support/when-not-busy.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);
const admin = () => h.as(h.first.admin_key);

describe('configs', () => {
  it('go from created to deleted in the published shapes', async () => {
    const document = { retry: { attempts: 2 }, provider: '@demo', override_params: { z: 1, a: 2 } };
    const created = await workspace().post('/configs', {
      name: 'Pplx Cache Test',
      config: document,
      isDefault: 1,
    });
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({
      success: true,
      data: { id: expect.any(String), version_id: expect.any(String) },
    });
    const { slug } = created.body.data;
    expect(slug).toMatch(/^pc-pplx-c-[0-9a-f]{6}$/);

    const read = await workspace().get(`/configs/${slug}`).expect(200);
    expect(read.body.data).toMatchObject({
      config: document,
      is_default: 1,
      status: 'active',
      workspace_id: h.first.workspace_id,
    });
    expect(JSON.stringify(read.body.data.config)).toBe(JSON.stringify(document));
    expect((await workspace().get(`/configs/${created.body.data.id}`)).body.data.slug).toBe(slug);

    const updated = await workspace()
      .put(`/configs/${slug}?allow_missing=true`, { config: { provider: '@other' } })
      .expect(200);
    expect(updated.body.data.version_id).not.toBe(created.body.data.version_id);
    const versions = await workspace().get(`/configs/${slug}/versions`).expect(200);
    expect(versions.body).toMatchObject({ object: 'list', total: 2 });
    expect(
      versions.body.data.map((version: { config: string }) => JSON.parse(version.config).provider),
    ).toEqual(['@other', '@demo']);
    expect(versions.body.data[0]).toMatchObject({
      format: 'json',
      type: 'ORG_CONFIG',
      object: 'config',
      version_id: updated.body.data.version_id,
    });

    const list = await workspace().get('/configs').expect(200);
    expect(list.body.success).toBe(true);
    expect(list.body.data.map((config: { slug: string }) => config.slug)).toContain(slug);
    expect((await workspace().delete(`/configs/${slug}`)).body).toEqual({});
    await workspace().get(`/configs/${slug}`).expect(404);
    await workspace().delete(`/configs/${slug}`).expect(404);
  });

  it.each([
    ['no name', { config: {} }, 'body.name'],
    ['no document', { name: 'x' }, 'body.config'],
    ['a list', { name: 'x', config: [] }, 'body.config'],
    ['text that is no JSON', { name: 'x', config: '{' }, 'body.config'],
    ['a key nobody knows', { name: 'x', config: { provide: 'a' } }, 'body.config.provide'],
    [
      'a fault deep inside',
      { name: 'x', config: { targets: [{ retry: { attempts: 'many' } }] } },
      'body.config.targets[0].retry.attempts',
    ],
  ])('refuse %s, with the path of the fault', async (_case, body, field) => {
    const answer = await workspace().post('/configs', body);
    expect([answer.status, answer.body.data.errorCode, answer.body.data.field]).toEqual([
      400,
      'AB01',
      field,
    ]);
  });

  it('have at most one default in a workspace', async () => {
    const one = await workspace().post('/configs', {
      name: 'one',
      config: { provider: '@demo' },
      isDefault: 1,
    });
    const two = await workspace().post('/configs', {
      name: 'two',
      config: { provider: '@demo' },
      isDefault: 1,
    });
    const flags = async () =>
      Promise.all(
        [one, two].map(
          async ({ body }) =>
            (await workspace().get(`/configs/${body.data.slug}`)).body.data.is_default,
        ),
      );
    expect(await flags()).toEqual([0, 1]);
    await workspace().put(`/configs/${one.body.data.slug}`, { isDefault: 1 });
    expect(await flags()).toEqual([1, 0]);
  });

  it('are reached by an organisation key with or without naming the workspace', async () => {
    await admin()
      .post('/configs', { name: 'x', config: { provider: '@demo' } })
      .expect(400);
    const created = await admin().post('/configs', {
      name: 'x',
      config: { provider: '@demo' },
      workspace_id: h.first.workspace_slug,
    });
    const { slug } = created.body.data;
    await admin().get(`/configs/${slug}`).expect(200);
    await admin().get(`/configs/${slug}?workspace_id=${h.first.workspace_id}`).expect(200);
    await admin().get(`/configs/${slug}?workspace_id=ws-nowhere`).expect(404);
    // The same slug in a second workspace makes the slug alone ambiguous.
    const second = await admin().post('/admin/workspaces', { name: 'Second' });
    const twin = await admin().post('/configs?allow_missing=true', {
      name: 'twin',
      config: { provider: '@demo' },
      workspace_id: second.body.id,
    });
    await h.db.config.update({ where: { id: twin.body.data.id }, data: { slug } });
    expect((await admin().get(`/configs/${slug}`)).body.data.field).toBe('query.workspace_id');
    expect(
      (await admin().get(`/configs/${slug}?workspace_id=${second.body.id}`)).body.data.name,
    ).toBe('twin');
  });

  it('lose no update: 20 changes at once are 20 versions, each on top of another', async () => {
    const created = await workspace().post('/configs', {
      name: 'busy',
      config: { provider: '@demo' },
    });
    const path = `/configs/${created.body.data.slug}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        whenNotBusy(() => workspace().put(path, { config: { override_params: { index } } })),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
    const versions = await h.db.configVersion.findMany({
      where: { configId: created.body.data.id },
      orderBy: { version: 'asc' },
    });
    expect(versions.map((version) => version.version)).toEqual(
      Array.from({ length: 21 }, (_, index) => index + 1),
    );
    const written = versions
      .slice(1)
      .map((version) => JSON.parse(version.body).override_params.index as number);
    expect(written.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
    const current = (await workspace().get(path)).body.data.config.override_params.index;
    expect(current).toBe(JSON.parse(versions.at(-1)?.body ?? '{}').override_params.index);
  });
});

const create = async (config: object, name = 'x') => {
  const created = await workspace().post('/configs', { name, config });
  expect([created.status, created.body]).toMatchObject([200, { success: true }]);
  return created.body.data.slug as string;
};
const refused = (answer: { status: number; body: { data?: Record<string, unknown> } }) => ({
  status: answer.status,
  code: answer.body.data?.errorCode,
  field: answer.body.data?.field,
});
const leaf = { provider: '@demo' };
const loadbalance = (targets: object[]) => ({ strategy: { mode: 'loadbalance' }, targets });
const conditional = (query: object) => ({
  strategy: {
    mode: 'conditional',
    // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
    conditions: [{ query, then: 'a' }],
    default: 'a',
  },
  targets: [{ name: 'a', ...leaf }],
});
/** A thousand on top, each with some below. */
const wide = () =>
  loadbalance(
    Array.from({ length: 100 }, () => loadbalance(Array.from({ length: 100 }, () => leaf))),
  );
/** One in the other. */
const deep = (levels: number): object =>
  levels === 0 ? leaf : { strategy: { mode: 'single' }, targets: [deep(levels - 1)] };

describe('documents that cannot be run', () => {
  it.each<[string, () => object | string, string]>([
    [
      'an unknown strategy',
      () => ({ strategy: { mode: 'best' }, targets: [leaf] }),
      'body.config.strategy.mode',
    ],
    [
      'a negative weight',
      () => loadbalance([leaf, { ...leaf, weight: -1 }]),
      'body.config.targets[1].weight',
    ],
    ['only weights of zero', () => loadbalance([{ ...leaf, weight: 0 }]), 'body.config.targets'],
    ['10,000 nested targets', wide, 'body.config.targets[0].targets'],
    [
      '10,000 targets below one',
      () => loadbalance([loadbalance(Array.from({ length: 10_000 }, () => leaf))]),
      'body.config.targets[0].targets',
    ],
    [
      '10,000 targets, each in the one before',
      () => {
        const [open, close] = ['{"strategy":{"mode":"single"},"targets":[', ']}'];
        return `${open.repeat(10_000)}{"provider":"@demo"}${close.repeat(10_000)}`;
      },
      'body.config.targets',
    ],
    [
      'parameters 10,000 levels deep',
      () =>
        `{"provider":"@demo","override_params":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
      'body.config.override_params',
    ],
    [
      'a look-ahead',
      () => conditional({ 'metadata.a': { $regex: '^(?=.*a)(?=.*b)' } }),
      'body.config.strategy.conditions[0].query',
    ],
    [
      'a back-reference',
      () => conditional({ 'metadata.a': { $regex: '(a+)\\1' } }),
      'body.config.strategy.conditions[0].query',
    ],
    [
      'a pattern with a repetition of a repetition, many times over',
      () => conditional({ 'metadata.a': { $regex: '((((a{1,99}){1,99}){1,99}){1,99})' } }),
      'body.config.strategy.conditions[0].query',
    ],
    [
      'an unknown operator',
      () => conditional({ 'metadata.a': { $like: 'x' } }),
      'body.config.strategy.conditions[0].query',
    ],
    [
      'a circuit breaker without a threshold',
      () => ({ ...leaf, cb_config: { cooldown_interval: 30_000 } }),
      'body.config.cb_config',
    ],
    [
      'a partner without credentials',
      () => ({ ...leaf, input_guardrails: [{ 'lakera.guard': {} }] }),
      'body.config.input_guardrails[0].lakera.guard',
    ],
    [
      'a guardrail that waits for nothing',
      () => ({ ...leaf, input_guardrails: [{ wordCount: {}, timeout: 0 }] }),
      'body.config.input_guardrails[0].timeout',
    ],
    [
      'a config that is not there',
      () => ({ targets: [{ config: 'pc-none' }] }),
      'body.config.targets[0].config',
    ],
  ])('with %s are refused within a second, with the path', async (_name, document, field) => {
    const spentMs = ownTime();
    const answer = await workspace().post('/configs', { name: 'x', config: document() });
    expect(spentMs()).toBeLessThan(1000);
    expect({
      ...refused(answer),
      field: String(answer.body.data.field).slice(0, field.length),
    }).toEqual({
      status: 400,
      code: 'AB01',
      field,
    });
    expect(answer.body.data.errors.length).toBeGreaterThan(0);
    // Still there, and still answering.
    await workspace().get('/configs').expect(200);
  });

  it('are refused with all their faults at once', async () => {
    const answer = await workspace().post('/configs', {
      name: 'x',
      config: { strategy: { mode: 'best' }, targets: [{ ...leaf, weight: -1 }, { provide: 'a' }] },
    });
    expect(answer.body.data.errors).toEqual([
      expect.stringMatching(/^path: body\.config\.strategy\.mode, message: /),
      expect.stringMatching(/^path: body\.config\.targets\[0\]\.weight, message: /),
      expect.stringMatching(/^path: body\.config\.targets\[1\]\.provide, message: /),
    ]);
  });

  it('are refused on update too, and the version in force stays', async () => {
    const slug = await create(leaf);
    const answer = await workspace().put(`/configs/${slug}`, {
      config: loadbalance([{ ...leaf, weight: -1 }]),
    });
    expect(refused(answer)).toEqual({
      status: 400,
      code: 'AB01',
      field: 'body.config.targets[0].weight',
    });
    expect((await workspace().get(`/configs/${slug}/versions`)).body.total).toBe(1);
  });

  it('a pattern that would blow up is refused', async () => {
    const config = conditional({ 'metadata.a': { $regex: '(a+)+$' } });
    expect(refused(await workspace().post('/configs', { name: 'x', config }))).toMatchObject({
      status: 400,
      code: 'AB01',
      field: 'body.config.strategy.conditions[0].query.metadata.a.$regex',
    });
  });

  it('as deep as is allowed they are stored, and no deeper', async () => {
    await create(deep(20));
    expect(refused(await workspace().post('/configs', { name: 'x', config: deep(40) })).code).toBe(
      'AB01',
    );
  });
});

describe('references between configs', () => {
  it('may be many steps long, but never lead back', async () => {
    const c = await create(leaf, 'c');
    const b = await create({ targets: [{ config: c }] }, 'b');
    const a = await create({ strategy: { mode: 'fallback' }, targets: [leaf, { config: b }] }, 'a');
    const circle = await workspace().put(`/configs/${c}`, {
      config: { strategy: { mode: 'fallback' }, targets: [leaf, { config: a }] },
    });
    expect(refused(circle)).toMatchObject({ status: 400, code: 'AB01' });
    expect(circle.body.data.field).toMatch(/^body\.config\.targets\[1\].*\.config$/);
    expect(circle.body.data.message).toContain([c, a, b, c].join(' → '));
    const self = await workspace().put(`/configs/${c}`, { config: { config: c } });
    expect(refused(self).field).toBe('body.config.config');
  });

  it('of two that are saved at once, one closes the circle and is refused', async () => {
    const [one, two] = [await create(leaf, 'one'), await create(leaf, 'two')];
    const answers = await Promise.all([
      workspace().put(`/configs/${one}`, { config: { config: two } }),
      workspace().put(`/configs/${two}`, { config: { config: one } }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it('stay inside the workspace', async () => {
    const mine = await create(leaf);
    const second = await admin().post('/admin/workspaces', { name: 'Elsewhere' });
    const answer = await admin().post('/configs', {
      name: 'x',
      workspace_id: second.body.id,
      config: { config: mine },
    });
    expect(refused(answer)).toEqual({ status: 400, code: 'AB01', field: 'body.config.config' });
  });

  it('are limited to 200, and read with one query a level', async () => {
    const slugs: string[] = [];
    for (let index = 0; index < 201; index += 1) slugs.push(await create(leaf, 'many'));
    const all = (count: number) =>
      loadbalance(
        [0, 50, 100, 150, 200].flatMap((from) => {
          const some = slugs.slice(from, Math.min(from + 50, count));
          return some.length === 0 ? [] : [loadbalance(some.map((slug) => ({ config: slug })))];
        }),
      );
    await create(all(200));
    expect(refused(await workspace().post('/configs', { name: 'x', config: all(201) }))).toEqual({
      status: 400,
      code: 'AB01',
      field: 'body.config',
    });
  });

  it('keep a config from being deleted or archived', async () => {
    const used = await create(leaf, 'used');
    const user = await create({ targets: [{ config: used }] }, 'user');
    // Mentions that are no references.
    await create({ ...leaf, override_params: { config: used, user: used } }, 'mention');
    for (const answer of [
      await workspace().delete(`/configs/${used}`),
      await workspace().put(`/configs/${used}`, { status: 'archived' }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body.data).toMatchObject({
        code: 'admin.refused',
        message: `Other configs refer to this one: ${user}.`,
      });
    }
    await workspace().put(`/configs/${user}`, { status: 'archived' }).expect(200);
    await workspace().delete(`/configs/${used}`).expect(200);
    // What it referred to is gone, so it cannot come back as it was.
    expect(refused(await workspace().put(`/configs/${user}`, { status: 'active' }))).toEqual({
      status: 400,
      code: 'AB01',
      field: 'body.config.targets[0].config',
    });
    await workspace().put(`/configs/${user}`, { status: 'active', config: leaf }).expect(200);
  });

  it('a config that a key depends on is not archived', async () => {
    const slug = await create(leaf);
    await workspace()
      .post('/api-keys/workspace/service', {
        name: 'x',
        scopes: ['completions.write'],
        defaults: { config_id: slug },
      })
      .expect(200);
    expect((await workspace().put(`/configs/${slug}`, { status: 'archived' })).body.data.code).toBe(
      'admin.refused',
    );
  });
});

describe('names in configs', () => {
  const save = (config: object, query = '') =>
    workspace().post(`/configs${query}`, { name: 'n', config });

  it.each<[string, object, string, string]>([
    ['a saved provider', { provider: '@dmeo' }, 'provider', 'did you mean @demo?'],
    ['with a model', { provider: '@dmeo/gpt-4o' }, 'provider', 'did you mean @demo?'],
    ['a virtual key', { virtual_key: 'demmo' }, 'virtual_key', 'did you mean @demo?'],
    ['of the catalogue', { provider: 'opnai', api_key: 'sk' }, 'provider', 'did you mean openai?'],
    ['in a model', { override_params: { model: '@gone/m' } }, 'override_params.model', '@gone'],
    [
      'a target',
      { strategy: { mode: 'fallback' }, targets: [leaf, { provider: '@x9' }] },
      'targets[1].provider',
      '"@x9"',
    ],
    ['a prompt', { ...leaf, prompt_id: 'pp-none@2' }, 'prompt_id', 'no prompt'],
    ['a guardrail', { ...leaf, input_guardrails: ['pg-none'] }, 'input_guardrails[0]', 'pg-none'],
  ])(
    'that name nothing are refused with place and nearest name: %s',
    async (...[, config, field, text]) => {
      const answer = await save(config);
      expect(refused(answer)).toEqual({ status: 400, code: 'AB01', field: `body.config.${field}` });
      expect(answer.body.data.errors.join()).toContain(text);
      const allowed = await save(config, '?allow_missing=true').expect(200);
      expect(allowed.body.warnings).toHaveLength(1);
      await workspace().delete(`/configs/${allowed.body.data.slug}`).expect(200);
    },
  );

  it('of prompts are of the workspace alone, in versions that they have', async () => {
    const prompt = {
      name: 'P',
      string: 'Hi',
      parameters: {},
      model: 'm',
      collection_id: 'default',
    };
    const made = { ...prompt, slug: 'versioned', virtual_key: 'demo' };
    const { body } = await workspace().post('/prompts', made).expect(200);
    const label = await workspace().post('/labels', { name: 'here' }).expect(200);
    await workspace()
      .put(`/prompts/versioned/versions/${body.version_id}`, { label_id: label.body.id })
      .expect(200);
    const other = await admin().post('/admin/workspaces', { name: 'Lender' }).expect(200);
    const of = { workspace_id: other.body.slug, name: 'x', ai_provider_id: 'openai', slug: 'lent' };
    await admin().post('/integrations', of).expect(200);
    await admin()
      .post('/prompts', {
        ...made,
        workspace_id: other.body.slug,
        slug: 'lent',
        virtual_key: 'lent',
      })
      .expect(200);
    await admin().post('/prompts/lent/share', { workspaces: 'all' }).expect(200);
    const faultOf = async (reference: string) =>
      (await save({ ...leaf, prompt_id: reference })).body.data?.message;
    for (const there of ['', '@1', '@latest', '@default', '@here'])
      expect(await faultOf(`versioned${there}`)).toBeUndefined();
    expect(await faultOf(`${body.id}@here`)).toBeUndefined();
    for (const [reference, text] of [
      ['versioned@2', 'names no version of the prompt, "versioned@2"; there are latest, here'],
      ['versioned@her', 'did you mean here?'],
      ['versioned@', 'names no version'],
      ['lent', 'names no prompt of the workspace, "lent", which is shared with it alone'],
    ] as const)
      expect(await faultOf(reference)).toContain(text);
    // Who takes the label away is told who goes on without.
    const users = [expect.stringMatching(/label here in config pc-n-.*, config .* fail now/)];
    const path = `/labels/${label.body.id}`;
    const described = await workspace().put(path, { description: 'x' }).expect(200);
    expect(described.body.warnings).toBeUndefined();
    expect((await workspace().put(path, { name: 'there' }).expect(200)).body.warnings).toEqual(
      users,
    );
    expect((await workspace().delete(path).expect(200)).body.warnings).toBeUndefined();
  });

  it('are taken with parameters of checks that do nothing, however hooks are written, which are told', async () => {
    const pii = { id: 'default.pii', parameters: { redcat: true } };
    const config = {
      ...leaf,
      before_request_hooks: [{ id: 'one', type: 'guardrail', checks: [pii], deny: true }],
      output_guardrails: [{ contains: { words: ['a'], not: true }, deny: true }],
      input_guardrails: [{ 'default.imageHosts': { redactText: 'x' } }],
    };
    const saved = await save(config).expect(200);
    expect(saved.body.warnings).toEqual([
      expect.stringContaining(
        'body.config.before_request_hooks[0].checks[0].parameters.redcat: does nothing: it is no parameter here; there are timeout',
      ),
      expect.stringContaining(
        'body.config.input_guardrails[0].default.imageHosts.redactText: does',
      ),
      expect.stringContaining('body.config.output_guardrails[0].contains.not: does nothing: it is'),
    ]);
    await workspace().delete(`/configs/${saved.body.data.slug}`).expect(200);
  });

  it('are taken with settings that do nothing where they stand, which are told', async () => {
    const config = { ...leaf, strategy: { mode: 'fallback' }, targets: [{ ...leaf, weight: 1 }] };
    const created = await save(config).expect(200);
    const told = [
      'body.config.provider: does nothing: each target says it itself, and is handed none',
      'body.config.targets[0].weight: does nothing: targets of the mode loadbalance have it',
    ];
    expect(created.body.warnings).toEqual(told);
    const path = `/configs/${created.body.data.slug}`;
    expect((await workspace().put(path, { config })).body.warnings).toEqual(told);
    expect((await workspace().put(path, { name: 'Other' })).body.warnings).toBeUndefined();
    await workspace().delete(path).expect(200);
  });

  it.each<[object, string, string]>([
    [{ ...leaf, retyr: { attempts: 2 } }, 'retyr', 'did you mean retry?'],
    [{ targets: [{ ...leaf, waight: 1 }] }, 'targets[0].waight', 'did you mean weight?'],
    [
      { ...leaf, beforeRequestHooks: [{ id: 'h', checks: [], dney: true }] },
      'before_request_hooks[0].dney',
      'did you mean deny?',
    ],
    [
      { ...leaf, after_request_hooks: [{ id: 'h', on_fail: { feedback: { vlaue: 1 } } }] },
      'after_request_hooks[0].on_fail.feedback.vlaue',
      'did you mean value?',
    ],
  ])('of keys that nobody knows are refused with the nearest: %j', async (config, field, text) => {
    const answer = await save(config);
    const at = `body.config.${field}`;
    expect(refused(answer)).toEqual({ status: 400, code: 'AB01', field: at });
    expect(answer.body.data.errors).toEqual([`path: ${at}, message: is no field here; ${text}`]);
  });

  it('keep what they name: providers and prompts in use stay, and who removes them is told', async () => {
    const body = { name: 'Used', ai_provider_id: 'openai', key: 'sk-used-0001', slug: 'used' };
    await workspace().post('/integrations', body).expect(200);
    const prompt = {
      name: 'Used',
      collection_id: 'default',
      string: 'Hi',
      parameters: {},
      model: 'm',
    };
    const prompted = await workspace().post('/prompts', { ...prompt, virtual_key: 'used' });
    const config = { targets: [leaf, { provider: '@used/m', prompt_id: prompted.body.slug }] };
    const slug = (await save(config).expect(200)).body.data.slug;
    const kept = await workspace().delete('/virtual-keys/used');
    expect([kept.status, kept.text]).toEqual([
      400,
      expect.stringContaining(`config ${slug}, prompt ${prompted.body.slug}`),
    ]);
    const named = await workspace().delete(`/prompts/${prompted.body.slug}`);
    expect([named.status, named.text]).toEqual([400, expect.stringContaining(`config ${slug}`)]);
    const gone = await workspace().delete('/providers/used?force=true').expect(200);
    expect(gone.body.warnings).toEqual([expect.stringContaining(`config ${slug}`)]);
  });

  it('go with an integration, whose credential may have leaked: the answer lists them', async () => {
    const body = { name: 'Leaky', ai_provider_id: 'openai', key: 'sk-leak-0001', slug: 'leaky' };
    await workspace().post('/integrations', body).expect(200);
    const slug = (await save({ provider: '@leaky' }).expect(200)).body.data.slug;
    const gone = await workspace().delete('/integrations/leaky').expect(200);
    expect(gone.body.warnings).toEqual([expect.stringMatching(`@leaky .*config ${slug}`)]);
  });
});
