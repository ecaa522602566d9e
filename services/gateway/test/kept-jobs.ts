import { setTimeout as delay } from 'node:timers/promises';
import { bytes, eventually, freshName, json, startUpstream } from '@sluice/testkit';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JobVendor, startJobVendor } from './job-vendors.ts';
import type { Records } from './records.ts';
import { type CallOptions, errorOf, type Scenario } from './scenario.ts';

/** Jobs at providers: two gateways with one Redis. Told by the file that has the installation. */
export function describeJobs(installation: () => { scenario: Scenario; records: Records }): void {
  const canary = 'sk-canary-7cb1e0';
  let vendor: JobVendor;
  let other: JobVendor;
  beforeAll(async () => {
    [vendor, other] = await Promise.all([startJobVendor(), startJobVendor()]);
  });
  afterAll(async () => {
    await Promise.all([vendor, other].map(({ upstream }) => upstream.close()));
  });

  const target = ({ upstream }: JobVendor) => ({
    provider: 'openai',
    api_key: canary,
    custom_host: `${upstream.url}/v1`,
  });
  const spread = () => ({
    strategy: { mode: 'loadbalance' },
    targets: [target(vendor), target(other)],
  });
  const ask = (path: string, over: CallOptions & { config?: object } = {}) =>
    installation().scenario.call(path, {
      host: null,
      ...over,
      headers: {
        'x-service-config': JSON.stringify(over.config ?? spread()),
        ...over.headers,
      },
    });
  const look = (path: string, over: Parameters<typeof ask>[1] = {}) =>
    ask(path, { method: 'GET', ...over });
  const client = (gateway = 0) => {
    const { stack } = installation().scenario;
    return new OpenAI({
      apiKey: stack.credentials.workspace_key,
      baseURL: `${stack.gatewayUrls[gateway]}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'x-service-config': JSON.stringify(spread()) },
    });
  };
  const ownerOf = (id: string) => [vendor, other].find(({ jobs }) => jobs.has(id)) as JobVendor;
  const uploaded = async () => {
    const answer = await ask('/v1/files', { body: {} });
    return ((await answer.json()) as { id: string }).id;
  };
  const billsOf = (endpoint: string) =>
    installation()
      .records.all()
      .filter((record) => record.endpoint === endpoint && record.costNanoUsd > 0n);
  /** Ten polls at both gateways, one bill. */
  const polledAndBilled = async (path: string, endpoint: string) => {
    const before = billsOf(endpoint).length;
    const polls = Array.from({ length: 10 }, (_, at) => look(path, { gateway: at % 2 }));
    for (const answer of await Promise.all(polls)) expect(answer.status).toBe(200);
    await eventually(() => {
      if (billsOf(endpoint).length <= before) throw new Error(`no bill of ${endpoint}`);
    });
    await delay(300);
    const bills = billsOf(endpoint).slice(before);
    expect(bills.length).toBe(1);
    return bills[0];
  };

  const otherWorkspace = async () => {
    const { scenario } = installation();
    const workspace = await scenario.admin<{ id: string }>('POST', '/admin/workspaces', {
      name: 'Other jobs',
    });
    return scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'Other jobs',
      workspace_id: workspace.id,
      scopes: ['completions.write'],
    });
  };

  describe('a job at a provider', () => {
    it('is a video to the client of OpenAI: made, seen, remixed, fetched and deleted', async () => {
      const openai = client();
      const before = billsOf('createVideo').length;
      const video = await openai.videos.create({
        prompt: 'A calico cat',
        model: 'sora-2-pro',
        seconds: '8',
        size: '1792x1024',
        input_reference: new File([Buffer.from('png')], 'a.png', { type: 'image/png' }),
      });
      expect(video.status).toBe('queued');
      const at = ownerOf(video.id);
      expect((await client(1).videos.retrieve(video.id)).progress).toBe(0);
      at.end(video.id);
      const bill = await polledAndBilled(`/v1/videos/${video.id}`, 'createVideo');
      expect(bill).toMatchObject({
        costNanoUsd: 4_000_000_000n,
        responseModel: 'sora-2-pro',
        units: { video_duration_seconds_1792_1024: 8n },
        latencyMs: 60_000,
      });
      const content = await client(1).videos.downloadContent(video.id);
      expect(await content.text()).toBe('mp4 bytes');
      const remix = await openai.videos.remix(video.id, { prompt: 'With a dog' });
      expect(at.jobs.has(remix.id), 'made where the first is').toBe(true);
      const listed = await look('/v1/videos', { config: target(at) });
      expect(((await listed.json()) as { data: unknown[] }).data.length).toBeGreaterThan(0);
      expect((await client(1).videos.delete(video.id)).deleted).toBe(true);
      expect(billsOf('createVideo').length).toBe(before + 1);
    });

    it('costs nothing when its video failed, or is never looked at', async () => {
      const before = billsOf('createVideo').length;
      const { id } = await client().videos.create({ prompt: 'A cat' });
      ownerOf(id).end(id, { status: 'failed', error: { code: 'moderation', message: 'no' } });
      for (const gateway of [0, 1])
        expect((await look(`/v1/videos/${id}`, { gateway })).status).toBe(200);
      await delay(300);
      expect(billsOf('createVideo').length).toBe(before);
    });

    it('is a fine-tune to the client of OpenAI, billed by its tokens', async () => {
      const openai = client();
      const job = await openai.fineTuning.jobs.create({
        model: 'gpt-4o-mini-2024-07-18',
        training_file: await uploaded(),
        method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 3 } } },
      });
      expect(job.status).toBe('validating_files');
      const events = await client(1).fineTuning.jobs.listEvents(job.id);
      expect(events.data.length).toBe(1);
      const checkpoints = await client(1).fineTuning.jobs.checkpoints.list(job.id);
      expect(checkpoints.data.length).toBe(1);
      await openai.fineTuning.jobs.pause(job.id);
      await openai.fineTuning.jobs.resume(job.id);
      expect((await openai.fineTuning.jobs.list()).data).toBeDefined();
      ownerOf(job.id).end(job.id);
      const bill = await polledAndBilled(`/v1/fine_tuning/jobs/${job.id}`, 'createFinetune');
      expect(bill).toMatchObject({
        costNanoUsd: 17_304_000n,
        usageEstimated: false,
        units: { training_token: 5768n },
      });
    });

    it('is billed by the hour where the vendor does, from our clock', async () => {
      const { id } = await client().fineTuning.jobs.create({
        model: 'o4-mini-2025-04-16',
        training_file: await uploaded(),
      });
      ownerOf(id).end(id, { trained_tokens: null });
      const bill = await polledAndBilled(`/v1/fine_tuning/jobs/${id}`, 'createFinetune');
      expect(bill).toMatchObject({ costNanoUsd: 150_000_000_000n, usageEstimated: true });
    });

    it('is cancelled by cancel alone: any other POST on it is the vendor’s to judge', async () => {
      const body = { model: 'gpt-4o-mini-2024-07-18', training_file: await uploaded() };
      const { id } = await client().fineTuning.jobs.create(body);
      const posted = await ask(`/v1/fine_tuning/jobs/${id}`, {
        body: {},
        config: target(ownerOf(id)),
      });
      expect(posted.status).toBe(405);
      expect(ownerOf(id).jobs.get(id)?.status).toBe('validating_files');
      expect((await client(1).fineTuning.jobs.cancel(id)).status).toBe('cancelled');
    });

    it('is nobody’s of another workspace, although the credential is the same', async () => {
      const { scenario } = installation();
      const { key } = await otherWorkspace();
      const video = await client().videos.create({ prompt: 'Mine' });
      const job = await client().fineTuning.jobs.create({
        model: 'm',
        training_file: await uploaded(),
      });
      for (const [id, paths] of [
        [video.id, [`/v1/videos/${video.id}`, `/v1/videos/${video.id}/content`]],
        [
          job.id,
          ['', '/events', '/checkpoints'].map((end) => `/v1/fine_tuning/jobs/${job.id}${end}`),
        ],
      ] as const) {
        const config = target(ownerOf(id));
        for (const path of paths)
          expect(await errorOf(await look(path, { key, config, gateway: 1 })), path).toMatchObject({
            status: 404,
            code: 'object.owner_unknown',
          });
      }
      const config = target(ownerOf(video.id));
      const form = new FormData();
      form.set('prompt', 'Longer');
      form.set('seconds', '4');
      form.set('video[id]', video.id);
      const changes: [string, CallOptions][] = [
        [`/v1/videos/${video.id}`, { method: 'DELETE' }],
        [`/v1/videos/${video.id}/remix`, { body: { prompt: 'p' } }],
        [`/v1/fine_tuning/jobs/${job.id}/cancel`, { rawBody: '' }],
        ['/v1/videos/extensions', { body: { prompt: 'p', video: { id: video.id } } }],
      ];
      for (const [path, over] of changes)
        expect((await ask(path, { key, config, ...over })).status, path).toBe(404);
      const url = `${scenario.stack.gatewayUrls[0]}/v1/videos/extensions`;
      const headers = { 'x-service-api-key': key, 'x-service-config': JSON.stringify(config) };
      expect((await fetch(url, { method: 'POST', headers, body: form })).status).toBe(404);
      expect(ownerOf(video.id).jobs.get(video.id)).toBeDefined();
    });

    it('is judged by a target’s own checks, in forms as in JSON', async () => {
      const config = {
        ...target(vendor),
        input_guardrails: [
          { 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true },
        ],
      };
      const before = vendor.upstream.requests.length;
      expect((await ask('/v1/videos', { config, body: { prompt: 'forbidden cat' } })).status).toBe(
        446,
      );
      const denied = client().videos.create(
        { prompt: 'forbidden cat' },
        { headers: { 'x-service-config': JSON.stringify(config) } },
      );
      await expect(denied).rejects.toMatchObject({ status: 446 });
      expect(vendor.upstream.requests.length).toBe(before);
    });

    it('is refused by a provider without it, which says who has it', async () => {
      for (const [path, has] of [
        ['/v1/videos/video_none', 'openai'],
        ['/v1/fine_tuning/jobs/ftjob-none', 'azure-openai'],
        ['/v1/containers', 'azure-openai'],
      ] as const) {
        const refused = await look(path, { config: { provider: 'anthropic', api_key: 'sk' } });
        const error = await errorOf(refused);
        expect(error).toMatchObject({ status: 400, code: 'provider.endpoint_unsupported' });
        expect(error.message).toContain(has);
      }
    });
  });

  describe('a job in a vendor’s own words', () => {
    it('is a fine-tune of Mistral to the client of OpenAI, and its refusal is one', async () => {
      const upstream = await startUpstream();
      const id = freshName('tune');
      const job: Record<string, unknown> = { id, object: 'job', status: 'QUEUED' };
      upstream.handle(({ method, path, headers, json: sent }) => {
        if (headers.authorization !== `Bearer ${canary}`) return json(401, { detail: 'no' });
        if (method === 'POST' && path === '/v1/fine_tuning/jobs') {
          const { model, training_files: files } = sent() as Record<string, unknown>;
          if (model === 'not-a-model') return json(422, { detail: [{ msg: 'unknown model' }] });
          return json(200, Object.assign(job, { model, training_files: files }));
        }
        if (method === 'GET' && path === `/v1/fine_tuning/jobs/${id}`) return json(200, job);
        if (method === 'POST' && path === `/v1/fine_tuning/jobs/${id}/cancel`)
          return json(200, Object.assign(job, { status: 'CANCELLED' }));
        return json(404, { detail: `${method} ${path}` });
      });
      const config = {
        provider: 'mistral-ai',
        api_key: canary,
        custom_host: `${upstream.url}/v1`,
      };
      const openai = client().withOptions({
        defaultHeaders: { 'x-service-config': JSON.stringify(config) },
      });
      const made = await openai.fineTuning.jobs.create({
        model: 'open-mistral-7b',
        training_file: 'train',
      });
      expect(made).toMatchObject({ id, object: 'fine_tuning.job', status: 'queued' });
      expect(upstream.requests.at(-1)?.json()).toMatchObject({
        training_files: [{ file_id: 'train', weight: 1 }],
        auto_start: true,
      });
      expect((await openai.fineTuning.jobs.cancel(id)).status).toBe('cancelled');
      const wrong = openai.fineTuning.jobs.create({ model: 'not-a-model', training_file: 't' });
      await expect(wrong).rejects.toMatchObject({ status: 422 });
      const { key } = await otherWorkspace();
      for (const path of [`/v1/fine_tuning/jobs/${id}`, `/v1/fine_tuning/jobs/${id}/events`])
        expect((await look(path, { key, config, gateway: 1 })).status).toBe(404);
      await upstream.close();
    });

    it('is a video of Together, whose content comes from elsewhere without the credential', async () => {
      const [upstream, elsewhere] = await Promise.all([startUpstream(), startUpstream()]);
      const video = {
        id: freshName('v'),
        model: 'vidu/vidu-q1',
        status: 'completed',
        created_at: 1_795_000_000,
        seconds: '8',
        size: '1920x1080',
        outputs: { video_url: `${elsewhere.url}/v1.mp4` },
      };
      upstream.handle(({ method, path }) =>
        ['/v2/videos', `/v2/videos/${video.id}`].includes(path) &&
        (method === 'POST') === path.endsWith('videos')
          ? json(
              200,
              method === 'POST' ? { ...video, status: 'queued', outputs: undefined } : video,
            )
          : json(404, { error: { message: `${method} ${path}` } }),
      );
      elsewhere.handle(() => bytes(200, Buffer.from('mp4 bytes'), { 'content-type': 'video/mp4' }));
      const config = {
        provider: 'together-ai',
        api_key: canary,
        custom_host: `${upstream.url}/v2`,
      };
      const openai = client().withOptions({
        defaultHeaders: { 'x-service-config': JSON.stringify(config) },
      });
      const { id } = await openai.videos.create({
        prompt: 'A cat',
        model: 'vidu/vidu-q1' as 'sora-2',
        seconds: '8',
        size: '1920x1080' as '720x1280',
      });
      expect((await openai.videos.retrieve(id)).status).toBe('completed');
      expect(await (await openai.videos.downloadContent(id)).text()).toBe('mp4 bytes');
      expect(elsewhere.requests).toHaveLength(1);
      expect(JSON.stringify(elsewhere.requests[0]?.headers)).not.toContain(canary);
      await Promise.all([upstream, elsewhere].map((each) => each.close()));
    });
  });
}
