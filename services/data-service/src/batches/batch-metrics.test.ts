import { createMetrics } from '@sluice/telemetry';
import { json, startUpstream } from '@sluice/testkit';
import { Pool } from 'undici';
import { expect, it } from 'vitest';
import { batchMetrics } from './batch-metrics.ts';
import { callLine } from './call-line.ts';
import { tokensIn } from './line-facts.ts';

/** Lines of a metric, without its default labels. */
async function shown(metrics: ReturnType<typeof createMetrics>) {
  const text = await metrics.registry.metrics();
  return text
    .split('\n')
    .filter((line) => /^(sluice_)?batch_/.test(line))
    .map((line) => line.replace(/,?(app|env)="[^"]*"/g, '').replace(',}', '}'));
}

it('what gateways answered is counted by provider, and batches by who answered their lines', async () => {
  const gateway = await startUpstream();
  const pool = new Pool(gateway.url);
  const metrics = createMetrics({ app: '', env: '' });
  const { onLines, onBatch } = batchMetrics(metrics);
  gateway.handle(() =>
    json(
      200,
      { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
      { 'x-ours-provider': 'openai', 'x-ours-provider-slug': 'mine', 'x-ours-cost': '0.25' },
    ),
  );
  try {
    const outcome = await callLine(
      { pool, timeoutMs: 5_000, answerBytesMax: 1_000 },
      {
        batchId: '019ab000-0000-7000-8000-000000000000',
        endpoint: '/v1/chat/completions',
        customId: 'a',
        body: Buffer.from('{}'),
        token: '',
        headers: {},
      },
      new AbortController().signal,
    );
    if (outcome.kind !== 'answer') throw new Error(outcome.kind);
    onLines('custom', [
      { isError: false, facts: outcome.facts },
      { isError: true, facts: outcome.facts },
      { isError: true },
    ]);
    onBatch('custom', new Set(['openai']), 1_500);
    onBatch('custom', new Set(['openai', 'groq']), 500);
    onBatch('provider', new Set(['anthropic']), 500);
    const lines = await shown(metrics);
    const openai = '{provider="openai",type="custom"}';
    const other = '{provider="other",type="custom"}';
    expect(lines).toEqual(
      expect.arrayContaining([
        `batch_count${openai} 1`,
        `batch_count${other} 1`,
        'batch_count{provider="anthropic",type="provider"} 1',
        `batch_process_time${openai} 1500`,
        `batch_row_count${openai} 2`,
        `batch_row_count${other} 1`,
        `batch_success_row_count${openai} 1`,
        `batch_failure_row_count${openai} 1`,
        `batch_cost${openai} 0.005`,
        `batch_input_tokens${openai} 14`,
        `batch_total_tokens${openai} 20`,
        'sluice_batch_lines_total{outcome="failed"} 2',
      ]),
    );
  } finally {
    await pool.destroy();
    await gateway.close();
    metrics.close();
  }
});

it('providers without end are told together', async () => {
  const metrics = createMetrics({ app: '', env: '' });
  const { onLines } = batchMetrics(metrics);
  const facts = { inputTokens: 1, totalTokens: 1, costUsd: 1 };
  for (let at = 0; at < 500; at += 1)
    onLines(at % 2 ? 'custom' : 'provider', [
      { isError: at % 3 === 0, facts: { ...facts, provider: `made-up-${at}` } },
    ]);
  const rows = (await shown(metrics)).filter((line) => line.startsWith('batch_row_count{'));
  expect(rows.length).toBeLessThanOrEqual(33);
  expect(rows.reduce((sum, line) => sum + Number(line.split(' ').pop()), 0)).toBe(500);
  metrics.close();
});

it.each([
  [{ usage: { prompt_tokens: 2, total_tokens: 2 } }, 2, 2],
  [{ usage: { input_tokens: 4, output_tokens: 6, total_tokens: 10 } }, 4, 10],
  [{ usage: { input_tokens: 1, cache_read_input_tokens: 8, output_tokens: 2 } }, 9, 11],
  [{ usage: { prompt_tokens: '3' } }, 0, 0],
  [undefined, 0, 0],
])('tokens are read as each endpoint tells them: %o', (body, inputTokens, totalTokens) => {
  expect(tokensIn(body)).toEqual({ inputTokens, totalTokens });
});
