import { describe, expect, it } from 'vitest';
import { upstreamFailure } from './upstream-failure.ts';

describe('upstreamFailure', () => {
  it.each([
    ['ECONNREFUSED', 'upstream.unreachable'],
    ['ENOTFOUND', 'upstream.unreachable'],
    ['UND_ERR_CONNECT_TIMEOUT', 'upstream.connect_timeout'],
    ['CERT_HAS_EXPIRED', 'upstream.unreachable'],
    ['HPE_INVALID_CONSTANT', 'upstream.invalid_response'],
    ['ECONNRESET', 'upstream.reset'],
  ])('%s is %s, also as a cause', (code, expected) => {
    const error = Object.assign(new Error('x'), { code });
    expect(upstreamFailure(error, false).code).toBe(expected);
    expect(upstreamFailure(new Error('outer', { cause: error }), false).code).toBe(expected);
    expect(upstreamFailure(new AggregateError([error]), false).code).toBe(expected);
  });
});
