import { eventually, type Upstream } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { expect, it } from 'vitest';
import { errorOf, type Scenario } from './scenario.ts';

interface Tuned {
  readonly scenario: () => Scenario;
  readonly upstream: () => Upstream;
  readonly savedProvider: (slug: string) => Promise<string>;
  readonly otherKey: () => Promise<string>;
  /** A config of that upstream alone, with the credential of the saved one. */
  readonly atUpstream: () => object;
}

/** Fine-tuning by OpenAI's own client of a file that the service keeps, at a provider that `service_options` name. */
export function provesManagedTuning({
  scenario,
  upstream,
  savedProvider,
  otherKey,
  atUpstream,
}: Tuned): void {
  const clientOf = (apiKey: string) =>
    new OpenAI({ apiKey, baseURL: `${scenario().stack.gatewayUrls[0]}/v1`, maxRetries: 0 });
  const rows = '{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Ho"}]}';
  const ask = (method: string, path: string, over: object = {}) =>
    scenario().call(path, { method, host: null, ...over });
  /** What was sent to the provider; what is under way there is looked at meanwhile. */
  const sentUp = () => upstream().requests.filter(({ method }) => method === 'POST').length;

  it('goes up, is made, looked at and cancelled by the ids of the service, and is one workspace’s with its model', async () => {
    const { workspace_key: key } = scenario().stack.credentials;
    const client = clientOf(key);
    const provider = await savedProvider('tuner');
    const file = await client.files.create({
      file: await toFile(Buffer.from(rows), 'rows.jsonl'),
      purpose: 'fine-tune',
    });
    const asked = {
      model: 'our-half',
      training_file: file.id,
      service_options: { provider, metadata: { team: 'tuners' } },
      provider_options: { seed: 7 },
    };
    const job = await client.fineTuning.jobs.create(asked);
    expect(job).toMatchObject({ training_file: file.id, status: 'running' });
    expect(job.id).toMatch(/^ftjob-svc_/);
    const sent = upstream().requests.slice(-2);
    expect(sent.map(({ path }) => path)).toEqual(['/v1/files', '/v1/fine_tuning/jobs']);
    expect(sent[0]?.body.toString()).toContain(rows);
    expect(sent[1]?.json()).toMatchObject({ seed: 7 });

    const end = await eventually(async () => {
      const now = await client.fineTuning.jobs.retrieve(job.id);
      expect(now).toMatchObject({ id: job.id, status: 'succeeded', trained_tokens: 5000 });
      return now;
    });
    expect((await client.fineTuning.jobs.listEvents(job.id)).data).toEqual([]);

    // One credential, another workspace: neither the job nor the model is theirs.
    const stranger = {
      key: await otherKey(),
      headers: { 'x-service-config': JSON.stringify(atUpstream()) },
    };
    const theirs = sent[1]?.json() as { training_file: string };
    const model = encodeURIComponent(end.fine_tuned_model ?? '');
    for (const [method, path] of [
      ['GET', '/v1/fine_tuning/jobs/ftjob-of-1'],
      ['DELETE', `/v1/files/${theirs.training_file}`],
      ['DELETE', `/v1/models/${model}`],
    ] as const)
      expect((await ask(method, path, { ...stranger, body: {} })).status, path).toBe(404);
    expect((await ask('GET', `/v1/fine_tuning/jobs/${job.id}`, { key: stranger.key })).status).toBe(
      400,
    );
    const deleted = await ask('DELETE', `/v1/models/${model}`, {
      body: {},
      headers: { 'x-service-provider': provider },
    });
    expect(await deleted.json()).toMatchObject({ deleted: true });

    const second = await client.fineTuning.jobs.create(asked);
    expect((await client.fineTuning.jobs.cancel(second.id)).id).toBe(second.id);
  });

  it('is refused before anything goes up: no target, several, another purpose, another workspace', async () => {
    const client = clientOf(scenario().stack.credentials.workspace_key);
    const made = (purpose: 'fine-tune' | 'batch', by = client) =>
      toFile(Buffer.from(rows), 'rows.jsonl').then((file) => by.files.create({ file, purpose }));
    const [good, batch] = [await made('fine-tune'), await made('batch')];
    const others = await made('fine-tune', clientOf(await otherKey()));
    const before = sentUp();
    const target = { config: atUpstream() };
    const refused = async (body: object) => {
      const { status, param } = await errorOf(
        await ask('POST', '/v1/fine_tuning/jobs', { body: { model: 'our-half', ...body } }),
      );
      return [status, param];
    };
    const options = (service_options: object, training_file = good.id) =>
      refused({ training_file, service_options });
    expect(await refused({ training_file: good.id })).toEqual([400, 'body.service_options']);
    expect(await options({ authorization: 'x' })).toEqual([400, 'body.service_options']);
    expect(await options(target, batch.id)).toEqual([400, 'body.training_file']);
    expect(await options(target, others.id)).toEqual([404, 'body.training_file']);
    expect(await options(target, 'file-theirs')).toEqual([404, 'body.training_file']);
    const several = { strategy: { mode: 'loadbalance' }, targets: [atUpstream(), atUpstream()] };
    expect((await options({ config: several }))[0]).toBe(400);
    expect((await options({ provider: '@nobody' }))[0]).toBe(400);
    expect(sentUp()).toBe(before);
  });

  it('is read by what is enforced before it goes up', async () => {
    const { id, slug } = await scenario().admin<{ id: string; slug: string }>(
      'POST',
      '/admin/workspaces',
      { name: `Tuned ${Math.random()}` },
    );
    const { key } = await scenario().admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'tunes',
      scopes: ['completions.write'],
      workspace_id: id,
    });
    const { slug: guardrail } = await scenario().admin<{ slug: string }>('POST', '/guardrails', {
      name: 'Of rows',
      workspace_id: id,
      checks: [{ id: 'default.regexMatch', parameters: { rule: 'secret plan', not: true } }],
      actions: { deny: true },
    });
    await scenario().admin('PUT', `/admin/workspaces/${slug}`, {
      defaults: { input_guardrails: [guardrail] },
    });
    const client = clientOf(key);
    const before = sentUp();
    const job = async (text: string) => {
      const file = await client.files.create({
        file: await toFile(Buffer.from(rows.replace('Hi', text)), 'rows.jsonl'),
        purpose: 'fine-tune',
      });
      const options = { service_options: { config: atUpstream() } };
      return client.fineTuning.jobs.create({
        model: 'our-half',
        training_file: file.id,
        ...options,
      });
    };
    await expect(job('the secret plan')).rejects.toMatchObject({ status: 446 });
    expect(sentUp()).toBe(before);
    expect((await job('fine')).status).toBe('running');
  });
}
