import { describe, expect, it } from 'vitest';
import { createDemoJobs, type JobReply } from './demo-jobs.ts';

describe('jobs of the demo', () => {
  let nowMs = 1_795_000_000_000;
  const jobs = createDemoJobs(() => nowMs);
  const ask = async (method: string, path: string, body: object = {}) => {
    const reply = await jobs.answer(method, path, () => Promise.resolve(JSON.stringify(body)));
    return reply as JobReply;
  };
  const document = async (...asked: Parameters<typeof ask>) => {
    const reply = await ask(...asked);
    if (reply.kind !== 'json') throw new Error('no document');
    return reply.body as Record<string, unknown>;
  };

  it('make a video, which is there after some seconds', async () => {
    const { id, status } = await document('POST', '/v1/videos', { prompt: 'A cat', seconds: '8' });
    expect(status).toBe('queued');
    await expect(ask('GET', `/v1/videos/${id}/content`)).rejects.toMatchObject({ status: 400 });
    nowMs += 1500;
    expect((await document('GET', `/v1/videos/${id}`)).status).toBe('in_progress');
    nowMs += 1500;
    expect(await document('GET', `/v1/videos/${id}`)).toMatchObject({
      status: 'completed',
      seconds: '8',
      completed_at: 1_795_000_003,
    });
    expect((await ask('GET', `/v1/videos/${id}/content`)).kind).toBe('video');
    const remix = await document('POST', `/v1/videos/${id}/remix`, { prompt: 'With a dog' });
    expect(remix).toMatchObject({ remixed_from_video_id: id, seconds: '8' });
    await document('DELETE', `/v1/videos/${id}`);
    await expect(ask('GET', `/v1/videos/${id}`)).rejects.toMatchObject({ status: 404 });
  });

  it('tune a model, and can be stopped', async () => {
    const body = { model: 'gpt-4o-mini-2024-07-18', training_file: 'file-1', suffix: 'mine' };
    const ids: unknown[] = [];
    for (let each = 0; each < 2; each++)
      ids.push((await document('POST', '/v1/fine_tuning/jobs', body)).id);
    expect((await document('POST', `/v1/fine_tuning/jobs/${ids[1]}/cancel`)).status).toBe(
      'cancelled',
    );
    nowMs += 6000;
    expect(await document('GET', `/v1/fine_tuning/jobs/${ids[0]}`)).toMatchObject({
      status: 'succeeded',
      trained_tokens: 5000,
      fine_tuned_model: 'ft:gpt-4o-mini-2024-07-18:demo:mine:1',
    });
    expect((await document('GET', `/v1/fine_tuning/jobs/${ids[1]}`)).status).toBe('cancelled');
    const pages = ['limit=1', `limit=1&after=${ids[1]}`].map(async (query) => {
      const { data, has_more } = await document('GET', `/v1/fine_tuning/jobs?${query}`);
      return [(data as { id: string }[]).map(({ id }) => id), has_more];
    });
    expect(await Promise.all(pages)).toEqual([
      [[ids[1]], true],
      [[ids[0]], false],
    ]);
    expect((await document('GET', `/v1/fine_tuning/jobs/${ids[0]}/checkpoints`)).data).toHaveLength(
      1,
    );
    expect((await document('GET', '/v1/fine_tuning/jobs')).data).toHaveLength(2);
  });

  it.each([
    ['/v1/videos', {}],
    ['/v1/videos', { prompt: 'p', seconds: '5' }],
    ['/v1/videos', { prompt: 'p', size: '1x1' }],
    ['/v1/fine_tuning/jobs', { model: 'm' }],
  ])('refuse at %s what the vendor refuses: %j', async (path, body) => {
    await expect(ask('POST', path, body)).rejects.toMatchObject({ status: 400 });
  });
});
