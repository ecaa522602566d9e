import { eventually } from '@sluice/testkit';
import { toFile } from 'openai';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { line, linesIn, question } from './batch-lines.ts';
import { type Scenario, startScenario } from './scenario.ts';

/** Files, uploads and jobs by the other gateway's own client, as it is published, over an alias of our headers. */

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario({
    logStore: true,
    environment: {
      gateway: { HEADER_PREFIX_ALIASES: 'x-portkey-' },
      'data-service': { BATCH_LOOK_INTERVAL: '100' },
    },
  });
});
afterAll(() => scenario?.stop());

const client = (over: object = {}) =>
  new Portkey({
    apiKey: scenario.stack.credentials.workspace_key,
    baseURL: `${scenario.stack.gatewayUrls[0]}/v1`,
    ...over,
  });

it('runs a batch over a file of the service, and reads what it came to', async () => {
  const portkey = client();
  const lines = ['a', 'b'].map((id) => line(id, question(id))).join('\n');
  const file = await portkey.files.create({
    file: await toFile(Buffer.from(lines), 'lines.jsonl'),
    purpose: 'batch',
  });
  expect(file).toMatchObject({ object: 'file', purpose: 'batch', bytes: lines.length });
  expect((await portkey.files.list()).data).toMatchObject([{ id: file.id }]);
  const batch = await portkey.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: 'immediate' as '24h',
    service_options: { provider: '@demo' },
  });
  const ended = await eventually(async () => {
    const now = await portkey.batches.retrieve(batch.id);
    expect(now).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 2 } });
    return now;
  });
  expect((await portkey.batches.list()).data).toMatchObject([{ id: batch.id }]);
  expect(ended.output_file_id).toMatch(/^file-svc_/);
  // Its `files.content` hides the answer of any gateway.
  const told = linesIn(await portkey.batches.output(batch.id));
  expect(told.map(({ custom_id }) => custom_id).sort()).toEqual(['a', 'b']);
  await expect(portkey.batches.cancel(batch.id)).rejects.toMatchObject({ status: 409 });
  expect(await portkey.files.delete(file.id)).toMatchObject({ deleted: true });
  await expect(portkey.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
});

it('makes a fine-tune and a video at @demo', async () => {
  const portkey = client({ provider: '@demo' });
  const file = await portkey.files.create({
    file: await toFile(Buffer.from('{"messages":[]}'), 'train.jsonl'),
    purpose: 'fine-tune',
  });
  // Its types ask for what single vendors need.
  const asked = { model: 'gpt-4o-mini', training_file: file.id } as never;
  const job = await portkey.fineTuning.jobs.create(asked);
  expect(await portkey.fineTuning.jobs.retrieve(job.id)).toMatchObject({
    object: 'fine_tuning.job',
    training_file: file.id,
  });
  const video = await portkey.videos.create({ model: 'sora-2', prompt: 'A calico cat' });
  expect(await portkey.videos.retrieve(video.id)).toMatchObject({ object: 'video', id: video.id });
});
