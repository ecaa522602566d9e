import { fromBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const workspace = () => h.as(h.first.workspace_key);

/** What a gateway gets of prompts and partials. */
async function bundle() {
  const answer = {
    hash: '',
    prompts: [] as config.Prompt[],
    promptVersions: [] as config.PromptVersion[],
    partials: [] as config.PromptPartial[],
    partialVersions: [] as config.PromptPartialVersion[],
  };
  const request = { workspaceId: h.first.workspace_id, knownHash: '' };
  const stream = h.rpc.serverStream(config.ConfigService.method.getBundle, request);
  for await (const piece of stream as AsyncIterable<config.GetBundleResponse>) {
    answer.hash ||= piece.bundle?.hash ?? '';
    answer.prompts.push(...piece.prompts.map((each) => fromBinary(config.PromptSchema, each)));
    for (const each of piece.promptVersions)
      answer.promptVersions.push(fromBinary(config.PromptVersionSchema, each));
    answer.partials.push(
      ...piece.partials.map((each) => fromBinary(config.PromptPartialSchema, each)),
    );
    for (const each of piece.partialVersions)
      answer.partialVersions.push(fromBinary(config.PromptPartialVersionSchema, each));
  }
  return answer;
}

async function createPrompt(change: object = {}) {
  const body = {
    name: 'Bundled',
    collection_id: 'default',
    string: 'Hello {{name}}',
    parameters: { temperature: 0.5, stream: true },
    virtual_key: 'demo',
    ...change,
  };
  return (await workspace().post('/prompts', body).expect(200)).body as Record<string, string>;
}

describe('the bundle', () => {
  it('holds prompts with their versions and labels, and which is published', async () => {
    const {
      id = '',
      slug,
      version_id: first,
    } = await createPrompt({
      model: 'm',
      tools: [{ type: 'function' }],
      tool_choice: 'auto',
      template_metadata: { template_type: 'completion' },
    });
    const { body } = await workspace().put(`/prompts/${slug}`, {
      string: '[{{#a}}{}{{/a}}]',
      parameters: {},
      virtual_key: 'demo',
      is_raw_template: 1,
    });
    const label = await workspace().post('/labels', { name: 'beta' });
    await workspace()
      .put(`/prompts/${slug}/versions/${first}`, { label_id: label.body.id })
      .expect(200);
    const { prompts, promptVersions } = await bundle();
    expect(prompts.find((prompt) => prompt.id === id)).toMatchObject({
      slug,
      publishedVersion: 1,
      latestVersion: 2,
      labels: { beta: 1 },
    });
    const versions = promptVersions.filter((version) => version.name.startsWith(id));
    expect(versions).toMatchObject([
      {
        id: first,
        name: `${id}@1`,
        template: 'Hello {{name}}',
        isRawTemplate: false,
        templateType: 'completion',
        providerSlug: 'demo',
      },
      { id: body.prompt_version_id, name: `${id}@2`, isRawTemplate: true, templateType: '' },
    ]);
    expect(versions.map((version) => JSON.parse(version.bodyJson))).toEqual([
      { model: 'm', temperature: 0.5, tools: [{ type: 'function' }], tool_choice: 'auto' },
      {},
    ]);
  });

  it('is another when a prompt, a label, its provider or a partial changes, and else the same', async () => {
    const { slug, version_id: versionId } = await createPrompt();
    const partial = await workspace().post('/prompts/partials', { name: 'Part', string: 'One' });
    const label = await workspace().post('/labels', { name: 'changing' });
    const made = await workspace().post('/integrations', {
      name: 'Another',
      ai_provider_id: 'openai',
      key: 'sk-of-another-provider',
    });
    const put = (path: string, body: object) => workspace().put(`/prompts/${path}`, body);
    const hashes = [(await bundle()).hash];
    expect((await bundle()).hash).toBe(hashes[0]);
    await put(slug ?? '', { name: 'Another name' }).expect(200);
    expect((await bundle()).hash).toBe(hashes[0]);
    for (const [path, body] of [
      [slug ?? '', { patch: true, model: 'm-2' }],
      [`${slug}/makeDefault`, { version: 2 }],
      [`${slug}/versions/${versionId}`, { label_id: label.body.id }],
      [slug ?? '', { virtual_key: made.body.slug }],
      [`partials/${partial.body.slug}`, { string: 'Two' }],
      [`partials/${partial.body.slug}/makeDefault`, { version: 2 }],
      [`partials/${partial.body.slug}`, { status: 'archived' }],
    ] as const) {
      await put(path, body).expect(200);
      hashes.push((await bundle()).hash);
    }
    await workspace().put(`/labels/${label.body.id}`, { name: 'changed' }).expect(200);
    hashes.push((await bundle()).hash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect((await bundle()).partials.map((each) => each.slug)).not.toContain(partial.body.slug);
  });

  it('holds the newest 1,000 versions, and older ones that are published or labelled', async () => {
    const { id = '', slug, version_id: first } = await createPrompt();
    const { data } = (await workspace().get('/labels?search=staging')).body;
    await workspace()
      .put(`/prompts/${slug}/versions/${first}`, { label_id: data[0].id })
      .expect(200);
    await h.db.$executeRaw`
      INSERT INTO prompt_versions (id, prompt_id, version, template, virtual_key, created_by)
      SELECT gen_random_uuid(), ${id}::uuid, n, 'Text ' || n, 'demo', gen_random_uuid()
      FROM generate_series(2, 1200) AS n`;
    await h.db.prompt.update({
      where: { id },
      data: { latestVersion: 1200, publishedVersion: 2 },
    });
    const { promptVersions } = await bundle();
    const numbers = promptVersions
      .filter((version) => version.name.startsWith(id))
      .map((version) => Number(version.name.split('@')[1]));
    expect(numbers).toEqual([1, 2, ...Array.from({ length: 1000 }, (_, index) => 201 + index)]);
  });
});
