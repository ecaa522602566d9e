import { create, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { spansOf } from './spans-of.ts';

function spansOfRecord(
  record: Parameters<typeof create<typeof usage.UsageRecordSchema>>[1],
  isLateHook = false,
) {
  const bytes = toBinary(
    usage.UsageRecordSchema,
    create(usage.UsageRecordSchema, {
      id: Buffer.from('019388b07c0070008000000000000001', 'hex'),
      organisationId: 'org',
      endpoint: 'chatComplete',
      provider: 'bedrock',
      model: 'claude',
      outcome: usage.Outcome.SUCCESS,
      createdAtMs: 1_700_000_000_000n,
      latencyMs: 300,
      attemptMs: 200,
      ...record,
    }),
  );
  return spansOf({ record: Buffer.from(bytes), content: undefined, isLateHook });
}

const hex = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString('hex');

describe('spansOf', () => {
  it.each([
    ['0AF7651916CD43DD8448EB211C80319C', '0af7651916cd43dd8448eb211c80319c'],
    ['0af76519-16cd-43dd-8448-eb211c80319c', '0af7651916cd43dd8448eb211c80319c'],
  ])('keeps the trace id %s', (traceId, kept) => {
    expect(hex(spansOfRecord({ traceId })[0]?.traceId)).toBe(kept);
  });

  it('makes one of a name that a caller chose, the same for all of its organisation and nobody else', () => {
    const of = (organisationId: string, traceId: string) =>
      hex(spansOfRecord({ traceId, organisationId })[0]?.traceId);
    expect(of('org', 'nightly')).toMatch(/^[0-9a-f]{32}$/);
    expect(of('org', 'nightly')).toBe(of('org', 'nightly'));
    expect(new Set([of('org', 'nightly'), of('org', 'daily'), of('other', 'nightly')]).size).toBe(
      3,
    );
    // Zeros are no id.
    expect(of('org', '0'.repeat(32))).not.toBe('0'.repeat(32));
  });

  it('hangs spans below those that callers named', () => {
    const [parent] = spansOfRecord({ traceId: 't', spanId: 'outer' });
    const [child] = spansOfRecord({ traceId: 't', spanId: 'inner', parentSpanId: 'outer' });
    expect(hex(child?.parentSpanId)).toBe(hex(parent?.spanId));
    expect(hex(child?.spanId)).not.toBe(hex(parent?.spanId));
  });

  it('lasts as long as the attempt did', () => {
    expect(spansOfRecord({})[0]).toMatchObject({
      startTimeUnixNano: 1_700_000_000_100_000_000n,
      endTimeUnixNano: 1_700_000_000_300_000_000n,
      name: 'chat claude',
    });
  });

  it('tells a call of a tool by its name, and apart whether the tool failed', () => {
    const call = {
      provider: 'mcp',
      providerSlug: 'weather',
      model: 'server-1',
      endpoint: 'mcp:tool_call',
      rpcMethod: 'tools/call',
      rpcId: '7',
      capabilityName: 'forecast',
      toolFailed: true,
      protocolVersion: '2025-11-25',
    };
    const [span] = spansOfRecord(call);
    const told = Object.fromEntries(
      (span?.attributes ?? []).map(({ key, value }) => [key, value?.value?.value]),
    );
    expect([span?.name, span?.status?.code]).toEqual(['execute_tool forecast', 2]);
    expect(told).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'forecast',
      'mcp.method.name': 'tools/call',
      'mcp.server.id': 'server-1',
      'mcp.tool.failed': true,
      'jsonrpc.request.id': '7',
      'error.type': 'tool_error',
      'service.outcome': 'success',
    });
    expect(told).not.toHaveProperty('gen_ai.request.model');
    const agent = { provider: 'agent', endpoint: 'agent:send_message', rpcMethod: 'message/send' };
    expect(spansOfRecord({ ...call, ...agent, capabilityName: '' })[0]?.name).toBe(
      'invoke_agent weather',
    );
  });

  it('says nothing of tokens that nobody counted', () => {
    const names = (spansOfRecord({})[0]?.attributes ?? []).map(({ key }) => key);
    expect(names.filter((name) => name?.includes('usage'))).toEqual([]);
  });

  it('has a span for each check, below that of the attempt', () => {
    const hooks = [
      { id: 'no-secrets', event: 'before', verdict: true, deny: true, ms: 2 },
      { id: 'polite', event: 'after', verdict: false, deny: true, ms: 3, async: true },
    ];
    const [span, ...checks] = spansOfRecord({ decisionJson: JSON.stringify({ hooks }) });
    expect(checks.map(({ name, status }) => [name, status?.code])).toEqual([
      ['service.guardrail.input', 0],
      ['service.guardrail.output', 2],
    ]);
    const times = checks.map(({ startTimeUnixNano: from, endTimeUnixNano: to }) => [from, to]);
    expect(times).toEqual([
      [1_700_000_000_100_000_000n, 1_700_000_000_102_000_000n],
      [1_700_000_000_297_000_000n, 1_700_000_000_300_000_000n],
    ]);
    // Nobody waited for it: it denied nothing.
    expect(checks[1]?.attributes).toContainEqual({
      key: 'service.guardrail.action',
      value: { value: { case: 'stringValue', value: 'none' } },
    });
    expect(new Set(checks.map(({ spanId }) => hex(spanId))).size).toBe(2);
    for (const check of checks) {
      expect(hex(check.parentSpanId)).toBe(hex(span?.spanId));
      expect(hex(check.traceId)).toBe(hex(span?.traceId));
    }
    expect(checks[1]?.attributes).toContainEqual({
      key: 'service.guardrail.verdict',
      value: { value: { case: 'stringValue', value: 'failed' } },
    });
  });

  it('tells of a hook that ended after the record of its attempt alone, where it belongs', () => {
    const hook = { id: 'polite', event: 'before', verdict: false, deny: true, ms: 40, async: true };
    const attempt = { traceId: 'nightly', spanId: 'outer', attempt: 0 };
    const [span] = spansOfRecord(attempt);
    const late = {
      ...attempt,
      decisionJson: JSON.stringify({ hooks: [hook] }),
      createdAtMs: 1_700_000_000_500n,
      latencyMs: 0,
      attemptMs: 0,
    };
    const of = (entryId: number) =>
      spansOfRecord({ ...late, entryId: Buffer.alloc(16, entryId) }, true);
    expect(of(1)).toHaveLength(1);
    expect(of(1)[0]).toMatchObject({
      name: 'service.guardrail.input',
      traceId: span?.traceId,
      parentSpanId: span?.spanId,
      startTimeUnixNano: 1_700_000_000_460_000_000n,
      endTimeUnixNano: 1_700_000_000_500_000_000n,
      status: { code: 2 },
    });
    expect(hex(of(1)[0]?.spanId)).not.toBe(hex(of(2)[0]?.spanId));
  });

  it('has a span for the look into the cache, where there was one', () => {
    const record = { cacheStatus: 'HIT', cacheType: 'simple', cacheProcessingMs: 1.5 };
    const [span, cache] = spansOfRecord(record);
    expect(cache).toMatchObject({
      name: 'service.cache',
      parentSpanId: span?.spanId,
      startTimeUnixNano: 1_700_000_000_100_000_000n,
      endTimeUnixNano: 1_700_000_000_101_500_000n,
    });
    expect(cache?.attributes).toContainEqual({
      key: 'service.cache.status',
      value: { value: { case: 'stringValue', value: 'HIT' } },
    });
    expect(spansOfRecord({ cacheStatus: 'DISABLED' })).toHaveLength(1);
  });
});
