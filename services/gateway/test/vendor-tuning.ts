import { freshName } from '@sluice/testkit';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { fireworksVendor } from './vendor-files.ts';
import type { VendorWorld } from './vendor-world.ts';

/** Jobs that are listed; those before are of other tests, or of a go that failed. */
const listed = async (client: OpenAI, before: readonly string[] = []) =>
  (await client.fineTuning.jobs.list()).data
    .map(({ id }) => id)
    .filter((id) => !before.includes(id));

/** Told by `vendor-jobs.ts`. */
export function describeVendorTuning(world: VendorWorld): void {
  const { role, bedrock, vertex, fireworks, atBedrock, atVertex, clientOf, upload, refusedBy } =
    world;
  describe('a fine-tune in a vendor’s own words', () => {
    it('is Bedrock’s, made of a file in the bucket, seen, stopped and refused', async () => {
      const client = clientOf(atBedrock());
      const suffix = freshName('my_model');
      const before = await listed(client);
      const training = await upload(client, ['{"prompt":"a","completion":"b"}'], 'fine-tune');
      const make = (over: object = {}) =>
        client.fineTuning.jobs.create({
          model: 'amazon.titan-text-express-v1:0:8k',
          training_file: training,
          validation_file: training,
          suffix,
          method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 2 } } },
          ...({ role_arn: role, ...over } as object),
        });
      const job = await make();
      expect(job).toMatchObject({ status: 'queued', training_file: training });
      expect((await client.fineTuning.jobs.retrieve(job.id)).status).toBe('running');
      bedrock.endTuning(suffix);
      expect(await client.fineTuning.jobs.retrieve(job.id)).toMatchObject({
        id: job.id,
        status: 'succeeded',
        fine_tuned_model: expect.stringContaining(`custom-model/${suffix}`),
        hyperparameters: { n_epochs: 2 },
      });
      expect(await listed(client, before)).toEqual([job.id]);
      const other = await make({ suffix: 'another' });
      expect((await client.fineTuning.jobs.cancel(other.id)).status).toBe('cancelled');
      expect(refusedBy(bedrock)).toEqual([]);
      await expect(client.fineTuning.jobs.cancel(job.id)).rejects.toMatchObject({ status: 409 });
      await expect(make({ suffix: 'two words' })).rejects.toThrow('must match pattern');
      await expect(make({ training_file: `s3://${world.s3.bucket}/none` })).rejects.toThrow(
        'access',
      );
      refusedBy(bedrock);
    });

    it('is Vertex AI’s, with its tokens, and a failure with its reason', async () => {
      const client = clientOf(atVertex());
      const before = await listed(client);
      const [good, bad] = [freshName('good'), freshName('bad')];
      const training = await upload(client, ['{"contents":[]}'], 'fine-tune');
      const make = (suffix: string, over: object = {}) =>
        client.fineTuning.jobs.create({
          model: 'gemini-2.5-flash',
          training_file: training,
          suffix,
          hyperparameters: { n_epochs: 3, learning_rate_multiplier: 0.5 },
          ...({ adapter_size: 4, ...over } as object),
        });
      const job = await make(good);
      expect(job).toMatchObject({ status: 'queued', training_file: training });
      vertex.endTuning(good);
      expect(await client.fineTuning.jobs.retrieve(job.id)).toMatchObject({
        status: 'succeeded',
        trained_tokens: 5768,
        fine_tuned_model: expect.stringContaining('endpoints/9'),
      });
      const failed = await make(bad);
      vertex.endTuning(bad, {
        state: 'JOB_STATE_FAILED',
        error: { code: 3, message: 'Too few examples' },
      });
      expect(await client.fineTuning.jobs.retrieve(failed.id)).toMatchObject({
        status: 'failed',
        error: { message: 'Too few examples' },
      });
      const stopped = await make('stopped');
      expect((await client.fineTuning.jobs.cancel(stopped.id)).status).toBe('cancelled');
      expect(await listed(client, before)).toHaveLength(3);
      expect(refusedBy(vertex)).toEqual([]);
      await expect(make('x', { adapter_size: 5 })).rejects.toMatchObject({ status: 400 });
      await expect(make('x', { training_file: 'gs://others-bucket/x' })).rejects.toMatchObject({
        status: 403,
      });
      refusedBy(vertex);
    });

    it('is Fireworks’, over a dataset that was sent up as a file', async () => {
      world.upstream.handle(
        fireworksVendor(
          () => world.elsewhere.url,
          (request, has) => {
            world.fireworksHas = has;
            return fireworks.part(request);
          },
        ),
      );
      const client = clientOf({
        provider: 'fireworks-ai',
        api_key: 'fw-key',
        custom_host: `${world.upstream.url}/v1`,
        fireworks_account_id: 'acme',
      });
      const before = await listed(client);
      const training = await upload(client, ['{"messages":[]}'], 'fine-tune');
      const make = (over: object = {}) =>
        client.fineTuning.jobs.create({
          model: 'llama-v3p1-8b-instruct',
          training_file: training,
          suffix: 'my-model',
          hyperparameters: { n_epochs: 2, learning_rate_multiplier: 0.0001 },
          ...over,
        });
      const job = await make();
      expect(job).toMatchObject({ status: 'running', training_file: training });
      fireworks.end(job.id);
      expect(await client.fineTuning.jobs.retrieve(job.id)).toMatchObject({
        status: 'succeeded',
        fine_tuned_model: 'accounts/acme/models/my-model',
      });
      const going = await make();
      fireworks.end(going.id, { state: 'JOB_STATE_CANCELLING' });
      expect((await client.fineTuning.jobs.retrieve(going.id)).status).toBe('cancelled');
      const stopped = await make();
      expect((await client.fineTuning.jobs.cancel(stopped.id)).status).toBe('cancelled');
      expect(await listed(client, before)).toHaveLength(2);
      expect(refusedBy(fireworks)).toEqual([]);
      await expect(make({ training_file: 'none' })).rejects.toMatchObject({ status: 404 });
      await expect(client.fineTuning.jobs.retrieve(stopped.id)).rejects.toMatchObject({
        status: 404,
      });
      refusedBy(fireworks);
    });
  });
}
