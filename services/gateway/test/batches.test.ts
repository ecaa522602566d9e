import { eventually } from '@sluice/testkit';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, startScenario } from './scenario.ts';

let s: Scenario;
let client: OpenAI;

beforeAll(async () => {
  s = await startScenario({
    logStore: true,
    environment: {
      'data-service': {
        BATCH_LOOK_INTERVAL: '100',
        BATCH_LINES_MAX: '1000',
        FILE_BYTES_MAX: String(9 * 1024 * 1024),
      },
    },
  });
  client = new OpenAI({
    apiKey: s.stack.credentials.workspace_key,
    baseURL: `${s.stack.gatewayUrls[0]}/v1`,
    maxRetries: 0,
  });
});
afterAll(() => s?.stop());

const line = (id: string, body: object) =>
  JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions', body });

describe('files of the service', () => {
  it('come back byte for byte, are listed, and go', async () => {
    const content = Buffer.alloc(5 * 1024 * 1024 + 17, 'some bytes ');
    const file = await client.files.create({
      file: await toFile(content, 'ünïcode name.jsonl'),
      purpose: 'batch',
    });
    expect(file).toMatchObject({
      object: 'file',
      bytes: content.length,
      filename: 'ünïcode name.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
    expect(file.id).toMatch(/^file-svc_[0-9a-f]{32}$/);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    const kept = await client.files.content(file.id);
    expect(Buffer.from(await kept.arrayBuffer()).equals(content)).toBe(true);
    expect((await client.files.list()).data.map(({ id }) => id)).toContain(file.id);
    expect(await client.files.delete(file.id)).toEqual({
      id: file.id,
      object: 'file',
      deleted: true,
    });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('a batch that the gateway runs', () => {
  it('calls each line of @demo for its key, and gives its answers by custom_id', async () => {
    const { demo_provider: demo } = s.stack.credentials;
    const model = `${demo}/demo-chat`;
    const lines = Array.from({ length: 40 }, (_, at) =>
      line(`line ${at}`, { model, messages: [{ role: 'user', content: `Question ${at}` }] }),
    );
    const file = await client.files.create({
      file: await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl'),
      purpose: 'batch',
    });
    const batch = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: 'immediate' as '24h',
      metadata: { night: 'first' },
    });
    expect(batch).toMatchObject({ object: 'batch', status: 'validating' });
    const ended = await eventually(async () => {
      const now = await client.batches.retrieve(batch.id);
      expect(now.status).toBe('completed');
      return now;
    });
    const output = await client.files.content(ended.output_file_id ?? '');
    const answers = (await output.text())
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each));
    expect(answers.map(({ custom_id }) => custom_id).sort()).toEqual(
      lines.map((each) => JSON.parse(each).custom_id).sort(),
    );
  });
});
