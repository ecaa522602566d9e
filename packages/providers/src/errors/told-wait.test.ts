import { expect, it } from 'vitest';
import { toldWaitMs } from './told-wait.ts';

const busy = (...details: unknown[]) => ({ error: { code: 429, details } });
const retryInfo = (retryDelay: unknown) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});
const help = { '@type': 'type.googleapis.com/google.rpc.Help', links: [] };

const told: [what: string, body: unknown, ms: number | undefined][] = [
  ['seconds', busy(retryInfo('34s')), 34_000],
  ['parts of a second', busy(help, retryInfo('34.074824224s')), 34_075],
  ['in the list that streams give errors in', [busy(retryInfo('0s'))], 0],
  ['no delay', busy({ '@type': retryInfo('1s')['@type'] }), undefined],
  ['a delay before now', busy(retryInfo('-1s')), undefined],
  ['a delay in other words', busy(retryInfo('1m')), undefined],
  ['a number', busy(retryInfo(5)), undefined],
  ['details that are none', { error: { details: 'RetryInfo' } }, undefined],
  ['another detail', busy({ ...help, retryDelay: '5s', of: 'RetryInfo' }), undefined],
  ['words alone', { error: { message: 'RetryInfo: retry in 5s' } }, undefined],
];

it.each(told)('a wait is told by the details of an error: %s', (_what, body, ms) => {
  expect(toldWaitMs(Buffer.from(JSON.stringify(body)))).toBe(ms);
});

it('what is no JSON tells no wait, and neither does what is too long', () => {
  expect(toldWaitMs(Buffer.from('<html>RetryInfo</html>'))).toBeUndefined();
  const long = JSON.stringify({ ...busy(retryInfo('5s')), padding: 'x'.repeat(300_000) });
  expect(toldWaitMs(Buffer.from(long))).toBeUndefined();
});
