import { bytes, eventually } from '@sluice/testkit';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { VendorWorld } from './vendor-world.ts';
/** Told by `vendor-jobs.ts`. */
export function describeVendorVideos(world: VendorWorld): void {
  const { canary, vertex, fal, together, atVertex, clientOf, refusedBy } = world;
  describe('a video in a vendor’s own words', () => {
    const videoOf = (client: OpenAI, id: string, status: string) =>
      eventually(async () => {
        const video = await client.videos.retrieve(id);
        expect(video.status).toBe(status);
        return video;
      });
    const make = (client: OpenAI, model: string, over: object = {}) =>
      client.videos.create({ prompt: 'A calico cat', model: model as 'sora-2', ...over });

    it.each(['veo-3.0-generate-001', 'veo-2.0-generate-001'])('is of Veo: %s', async (model) => {
      const client = clientOf(atVertex());
      const { id } = await make(client, model, { seconds: '8', size: '720x1280' });
      const video = await videoOf(client, id, 'completed');
      expect(video).toMatchObject({ model, seconds: '8', size: '720x1280', progress: 100 });
      expect(await (await client.videos.downloadContent(id)).text()).toBe('mp4 bytes of Veo');
      const ranged = await world.scenario().call(`/v1/videos/${id}/content`, {
        method: 'GET',
        host: null,
        headers: { 'x-service-config': JSON.stringify(atVertex()), range: 'bytes=4-8' },
      });
      expect([ranged.status, await ranged.text()]).toEqual([206, 'bytes']);
      for (const [prompt, message] of [
        ['unfit', 'The prompt is unfit.'],
        ['crash', 'Internal error'],
      ] as const) {
        const bad = await make(client, model, { prompt });
        expect((await videoOf(client, bad.id, 'failed')).error?.message).toBe(message);
        await expect(client.videos.downloadContent(bad.id)).rejects.toMatchObject({ status: 400 });
      }
      expect(refusedBy(vertex)).toEqual([]);
      await expect(make(client, model, { seconds: '12' })).rejects.toThrow('durationSeconds');
      refusedBy(vertex);
    });

    it('is of fal, whose failure is an answer, and not a refusal of the look', async () => {
      world.upstream.handle((request) => fal.part(request) ?? bytes(500, Buffer.alloc(0)));
      const config = { provider: 'fal-ai', api_key: canary, custom_host: world.upstream.url };
      const client = clientOf(config);
      const model = 'fal-ai/veo3/fast';
      const { id } = await make(client, model, { seconds: '8', size: '1280x720' });
      await videoOf(client, id, 'completed');
      expect(await (await client.videos.downloadContent(id)).text()).toBe('mp4 bytes');
      const late = client.videos.delete(id);
      await expect(late).rejects.toMatchObject({ status: 400 });
      const bad = await make(client, model, { prompt: 'unfit' });
      expect((await videoOf(client, bad.id, 'failed')).error?.message).toContain('unfit');
      const gone = await make(client, model);
      expect((await client.videos.delete(gone.id)).deleted).toBe(true);
      expect(refusedBy(fal)).toEqual([]);
      await expect(make(client, model, { seconds: '5' })).rejects.toMatchObject({ status: 422 });
      refusedBy(fal);
    });

    it('is of Together, with a picture to begin with, and failed at once', async () => {
      world.upstream.handle((request) => together.part(request) ?? bytes(500, Buffer.alloc(0)));
      const config = {
        provider: 'together-ai',
        api_key: canary,
        custom_host: `${world.upstream.url}/v2`,
      };
      const client = clientOf(config);
      const { id } = await make(client, 'vidu/vidu-q1', {
        seconds: '5',
        size: '1920x1080',
        input_reference: { image_url: 'https://pictures.example/cat.png' },
      });
      const video = await videoOf(client, id, 'completed');
      expect(video).toMatchObject({ seconds: '5', size: '1920x1080' });
      expect(await (await client.videos.downloadContent(id)).text()).toBe('mp4 bytes');
      const bad = await make(client, 'vidu/vidu-q1', { prompt: 'unfit' });
      expect(bad).toMatchObject({ status: 'failed', error: { message: 'The prompt is unfit.' } });
      await expect(client.videos.delete(id)).rejects.toMatchObject({ status: 400 });
      expect(refusedBy(together)).toEqual([]);
    });
  });
}
