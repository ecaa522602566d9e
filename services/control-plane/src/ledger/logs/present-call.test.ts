import { create } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { presentCall } from './present-call.ts';

describe('presentCall', () => {
  it('tells what is known of a call of a tool, and nothing of a call of a model', () => {
    expect(presentCall(create(usage.UsageRecordSchema, { model: 'gpt-4o' }))).toBeUndefined();
    const call = presentCall(
      create(usage.UsageRecordSchema, {
        rpcMethod: 'tools/call',
        rpcId: '7',
        capabilityName: 'forecast',
        toolFailed: true,
        upstreamStatus: 200,
        rpcErrorCode: -32_602,
      }),
    );
    expect(call).toEqual({
      method: 'tools/call',
      rpc_id: '7',
      capability: 'forecast',
      tool_failed: true,
      upstream_status: 200,
      rpc_error_code: -32_602,
      upstream_token_refreshed: false,
      usage_missing: false,
    });
  });
});
