import { create } from '@bufbuild/protobuf';
import { analytics } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { compareUse } from './compare.ts';
import { readAnthropic } from './read-anthropic.ts';
import { readOpenAI } from './read-openai.ts';

describe('readOpenAI', () => {
  it('reads the usage CSV, and passes over buckets without use', () => {
    const text = [
      '\uFEFFstart_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,api_key_id,model,input_tokens,output_tokens,input_cached_tokens',
      '1761523800,1761523860,2025-10-27T00:10:00+00:00,2025-10-27T00:11:00+00:00,proj_a,3.0,key_a,gpt-4o-2024-08-06,4212,1673,1280',
      '1761523860,1761523920,2025-10-27T00:11:00+00:00,2025-10-27T00:12:00+00:00,,,,,,,',
    ].join('\r\n');
    expect(readOpenAI(text)).toEqual([
      {
        day: '2025-10-27',
        model: 'gpt-4o-2024-08-06',
        requests: 3,
        inputTokens: 4212,
        outputTokens: 1673,
      },
    ]);
    expect(readOpenAI(`\uFEFF${JSON.stringify({ data: [] })}`)).toEqual([]);
    expect(readOpenAI('start_time,end_time,start_time_iso,end_time_iso\n1,2,a,b\n')).toEqual([]);
  });

  it('reads the cost CSV, in which the model stands before what is charged', () => {
    const text = `start_time,amount_value,amount_currency,line_item
1761523200,0.0038359800,usd,"gpt-5-nano, input_tokens"
1761523200,,,
1761523200, ," usd ",
`;
    expect(readOpenAI(text)).toEqual([
      { day: '2025-10-27', model: 'gpt-5-nano', costNanoUsd: 3_835_980n },
    ]);
  });

  it('reads pages of the usage and of the costs API', () => {
    const page = (result: object, more = {}) => ({
      object: 'page',
      data: [{ object: 'bucket', start_time: 1761523200, end_time: 1761609600, results: [result] }],
      ...more,
    });
    const usage = { model: 'gpt-4o', input_tokens: 10, output_tokens: 5, num_model_requests: 2 };
    const pages = [page(usage, { has_more: true }), page(usage, { has_more: false })];
    expect(readOpenAI(JSON.stringify(pages))).toHaveLength(2);
    const cost = { amount: { value: 0.06, currency: 'usd' }, line_item: 'gpt-4o, output' };
    expect(readOpenAI(JSON.stringify(page(cost)))).toEqual([
      { day: '2025-10-27', model: 'gpt-4o', costNanoUsd: 60_000_000n },
    ]);
    expect(() => readOpenAI(JSON.stringify(page(usage, { has_more: true })))).toThrow('has_more');
  });

  it.each([
    [
      '{"data":[{"start_time":1761523200,"results":[{"input_tokens":-1,"model":"x"}]}]}',
      'data[0].results[0].input_tokens',
    ],
    [
      '{"data":[{"start_time":1761523200,"results":[{"input_tokens":1,"model":null}]}]}',
      'data[0].results[0].model',
    ],
    [
      '{"data":[{"start_time":"x","results":[{"input_tokens":1,"model":"x"}]}]}',
      'data[0].start_time',
    ],
    ['{"data":[{"results":7}]}', 'data[0].results'],
    ['{"data":', 'the text is not valid JSON'],
    ['start_time,model,input_tokens\n1761523200,gpt-4o,a\n', 'line 2, input_tokens'],
    ['start_time,model,input_tokens\n1761523200,gpt-4o\n', 'line 2 has 2 fields'],
    ['start_time,model,input_tokens\n1761523200,"gpt-4o,1\n', 'line 2'],
    [
      'start_time,line_item,amount_value,amount_currency\n1761523200,x,1,eur\n',
      'line 2, amount_currency',
    ],
    ['a,b\n1,2\n', 'line 2'],
    ['start_time,model,input_tokens\n1761523200,gpt-4o,0x10\n', 'line 2, input_tokens'],
    [
      'start_time,line_item,amount_value,amount_currency\n1761523200,x,0b1,usd\n',
      'line 2, amount_value',
    ],
    [
      '{"data":[{"start_time":1761523200,"results":[{"input_tokens":true,"model":"x"}]}]}',
      'data[0].results[0].input_tokens',
    ],
  ])('names the place of a fault: %s', (text, place) => {
    expect(() => readOpenAI(text)).toThrow(place);
  });
});

describe('readAnthropic', () => {
  it('reads the usage CSV: input is what was sent, with what caches took and gave', () => {
    const text = `usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count,inference_geo,speed
2026-08-05,claude-opus-5,"App, closer
than before",Default,standard,≤ 200k,100,20,3,4000,50,0,global,
`;
    expect(readAnthropic(text)).toEqual([
      { day: '2026-08-05', model: 'claude-opus-5', inputTokens: 4123, outputTokens: 50 },
    ]);
  });

  it('reads the cost CSV and both reports of the admin API, whose costs are cents', () => {
    const csv =
      'usage_date_utc,model,token_type,cost_usd\n2026-08-05,Claude Sonnet 4.5,output,1.25\n';
    expect(readAnthropic(csv)).toEqual([
      { day: '2026-08-05', model: 'Claude Sonnet 4.5', costNanoUsd: 1_250_000_000n },
    ]);
    const report = (result: object) =>
      JSON.stringify({
        data: [{ starting_at: '2026-08-05T00:00:00Z', results: [result] }],
        has_more: false,
      });
    expect(
      readAnthropic(
        report({
          model: 'claude-opus-5',
          uncached_input_tokens: 100,
          cache_creation: { ephemeral_1h_input_tokens: 3, ephemeral_5m_input_tokens: 20 },
          cache_read_input_tokens: 4000,
          output_tokens: 50,
        }),
      ),
    ).toEqual([{ day: '2026-08-05', model: 'claude-opus-5', inputTokens: 4123, outputTokens: 50 }]);
    expect(
      readAnthropic(
        report({ amount: '123.45', currency: 'USD', model: null, description: 'Web search' }),
      ),
    ).toEqual([{ day: '2026-08-05', model: 'Web search', costNanoUsd: 1_234_500_000n }]);
  });
});

describe('compareUse', () => {
  const kept = (model: string, some = {}) =>
    create(analytics.ModelDaySchema, {
      day: '2026-08-05',
      model,
      requests: 2n,
      inputTokens: 10n,
      outputTokens: 5n,
      costNanoUsd: 20_000_000n,
      ...some,
    });

  it('adds lines of a model and day up, and shows what one of both knows alone', () => {
    const use = { day: '2026-08-05', model: 'A', inputTokens: 6, outputTokens: 2 };
    const compared = compareUse([use, use], [kept('a'), kept('b')], (model) => model.toLowerCase());
    expect(compared).toEqual([
      {
        day: '2026-08-05',
        ai_model: 'A',
        exported: { requests: null, input_tokens: 12, output_tokens: 4, cost: null },
        ledger: { requests: 2, input_tokens: 10, output_tokens: 5, cost: 2 },
        difference: { requests: null, input_tokens: 2, output_tokens: -1, cost: null },
      },
      {
        day: '2026-08-05',
        ai_model: 'b',
        exported: { requests: null, input_tokens: 0, output_tokens: 0, cost: null },
        ledger: { requests: 2, input_tokens: 10, output_tokens: 5, cost: 2 },
        difference: { requests: null, input_tokens: -10, output_tokens: -5, cost: null },
      },
    ]);
  });
});
