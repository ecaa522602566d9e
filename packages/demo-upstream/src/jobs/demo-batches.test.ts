import { describe, expect, it } from 'vitest';
import { VendorFault } from '../protocol.ts';
import { createDemoBatches } from './demo-batches.ts';

describe('files and batches of the demo', () => {
  let nowMs = 1_795_000_000_000;
  const batches = createDemoBatches(
    (path, body) => {
      if (body.includes('fail')) throw new VendorFault(429, 'Slower');
      return { path, body: JSON.parse(body) };
    },
    () => nowMs,
  );
  const ask = async (method: string, url: string, body: Buffer = Buffer.alloc(0), type = '') => {
    const answer = await batches.answer(method, url, type, () => Promise.resolve(body));
    return answer?.kind === 'json' ? (answer.body as Record<string, unknown>) : answer;
  };
  const upload = async (text: string) => {
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new File([text], 'in.jsonl'));
    const sent = new Response(form);
    const type = sent.headers.get('content-type') ?? '';
    const file = await ask('POST', '/v1/files', Buffer.from(await sent.arrayBuffer()), type);
    return (file as { id: string }).id;
  };
  const create = async (text: string, over: object = {}) => {
    const body = {
      input_file_id: await upload(text),
      endpoint: '/v1/embeddings',
      completion_window: '24h',
      ...over,
    };
    const made = await ask('POST', '/v1/batches', Buffer.from(JSON.stringify(body)));
    return made as Record<string, unknown> & { id: string };
  };
  const row = (custom_id: unknown, input = 'x', url = '/v1/embeddings') =>
    JSON.stringify({ custom_id, method: 'POST', url, body: { model: 'm', input } });
  const textOf = async (id: unknown) => {
    const answer = await ask('GET', `/v1/files/${id}/content`);
    return String((answer as { pieces: Buffer[] }).pieces[0]);
  };

  it('answer each line, those that fail apart, after some seconds', async () => {
    const { id, status } = await create(`${row('a')}\n\n${row('b', 'fail')}\n${row('c')}`);
    expect(status).toBe('validating');
    nowMs += 1500;
    expect(await ask('GET', `/v1/batches/${id}`)).toMatchObject({ status: 'in_progress' });
    nowMs += 1500;
    const end = (await ask('GET', `/v1/batches/${id}`)) as Record<string, unknown>;
    expect(end).toMatchObject({
      status: 'completed',
      completed_at: 1_795_000_003,
      request_counts: { total: 3, completed: 2, failed: 1 },
    });
    const out = (await textOf(end.output_file_id)).trim().split('\n');
    expect(out.map((line) => JSON.parse(line).custom_id)).toEqual(['a', 'c']);
    expect(JSON.parse(await textOf(end.error_file_id))).toMatchObject({
      custom_id: 'b',
      response: { status_code: 429, body: { error: { message: 'Slower' } } },
    });
    const again = await ask('GET', `/v1/batches/${id}`);
    expect(again).toMatchObject({ output_file_id: end.output_file_id });
    const listed = (await ask('GET', '/v1/files?purpose=batch_output&limit=1')) as {
      data: unknown[];
      has_more: boolean;
    };
    expect([listed.data.length, listed.has_more]).toEqual([1, true]);
    await ask('DELETE', `/v1/files/${end.output_file_id}`);
    await expect(textOf(end.output_file_id)).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    ['nothing', '', 'empty_file', null],
    ['no JSON', `${row('a')}\nx`, 'invalid_json_line', 2],
    ['no id', row(1), 'missing_required_parameter', 1],
    ['one id twice', `${row('a')}\n${row('a')}`, 'duplicate_custom_id', 2],
    ['another path', row('a', 'x', '/v1/responses'), 'mismatched_url', 1],
  ])('fail before a line is answered: %s', async (_what, text, code, line) => {
    expect(await create(text)).toMatchObject({
      status: 'failed',
      errors: { data: [{ code, line }] },
      request_counts: { total: 0 },
    });
  });

  it('are stopped, and refused in OpenAI’s words', async () => {
    const { id } = await create(row('a'));
    expect(await ask('POST', `/v1/batches/${id}/cancel`)).toMatchObject({ status: 'cancelled' });
    nowMs += 9000;
    expect(await ask('GET', `/v1/batches/${id}`)).toMatchObject({
      status: 'cancelled',
      output_file_id: null,
    });
    for (const over of [
      { endpoint: '/v1/files' },
      { completion_window: '1h' },
      { input_file_id: 7 },
    ])
      await expect(create(row('a'), over)).rejects.toMatchObject({ status: 400 });
    await expect(create(row('a'), { input_file_id: 'file-none' })).rejects.toMatchObject({
      status: 404,
    });
    await expect(ask('GET', '/v1/batches/none')).rejects.toMatchObject({ status: 404 });
    await expect(ask('POST', '/v1/files', Buffer.from('x'), 'text/plain')).rejects.toMatchObject({
      status: 400,
    });
    expect(await ask('GET', '/v1/models')).toBeUndefined();
  });
});
