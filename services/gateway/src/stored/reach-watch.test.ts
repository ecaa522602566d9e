import { GatewayError } from '@sluice/errors';
import { expect, it } from 'vitest';
import { ReachWatch } from './reach-watch.ts';

it('says once that what is kept cannot be reached and why, and once that it is again; each fault of ours', () => {
  const lines: unknown[] = [];
  const line = (fields: unknown, text = fields) => lines.push([text, fields]);
  const watch = new ReachWatch({ info: line, warn: line, error: line } as never);
  const away = new GatewayError('file.unavailable', { cause: new Error('refused at 127.0.0.1:1') });
  watch.reached();
  for (const request of ['1', '2', '3']) watch.lost(away, request);
  watch.reached();
  watch.reached();
  watch.lost(away, '4');
  const told = { code: 'file.unavailable', reason: 'refused at 127.0.0.1:1' };
  expect(lines.splice(0)).toEqual([
    ['what is kept cannot be reached', { ...told, request_id: '1' }],
    ['what is kept is reached again', { away_ms: expect.any(Number) }],
    ['what is kept cannot be reached', { ...told, request_id: '4' }],
  ]);
  const err = new TypeError('ours');
  for (const request_id of ['5', '6']) watch.lost(err, request_id);
  expect(lines).toEqual(
    ['5', '6'].map((request_id) => ['what is kept was not answered', { err, request_id }]),
  );
});
