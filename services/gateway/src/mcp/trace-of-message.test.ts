import { describe, expect, it } from 'vitest';
import { exampleExchange } from '../../test/exchange.ts';
import { withTraceOf } from './trace-of-message.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('the trace of a message', () => {
  it('says as what of an agent’s calls it is made, and no server hears that', () => {
    const { arrival } = exampleExchange();
    const told = withTraceOf(arrival, { traceparent, tracestate: 'sluice=abc,x=1' });
    expect([told.callMark, told.headers.tracestate]).toEqual(['abc', 'x=1']);
    // The request said so in its headers.
    const marked = { ...arrival, callMark: 'own' };
    expect(withTraceOf(marked, { traceparent }).callMark).toBe('own');
    expect(withTraceOf(arrival, { tracestate: 'sluice=abc' }).callMark).toBeUndefined();
  });
});
