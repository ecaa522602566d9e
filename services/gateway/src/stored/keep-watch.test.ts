import { GatewayError } from '@sluice/errors';
import type { Logger } from '@sluice/telemetry';
import { expect, it } from 'vitest';
import { KeepWatch } from './keep-watch.ts';

it('says once why responses are not kept, of each workspace whose own matter it is', () => {
  const lines: string[] = [];
  let nowMs = 0;
  const logger = {
    info: (text: string) => lines.push(text),
    warn: ({ code, workspace_id }: Record<string, string>) => lines.push(`${code} ${workspace_id}`),
  };
  const watch = new KeepWatch(logger as unknown as Logger, () => nowMs);
  const lose = (code: 'response.too_many' | 'response.unavailable', workspace: string) =>
    watch.lost(new GatewayError(code), workspace, 'r');
  const told = () => lines.splice(0);

  // One has no room, another keeps on.
  for (let at = 0; at < 3; at += 1) {
    lose('response.too_many', 'full');
    watch.kept();
  }
  lose('response.too_many', 'also full');
  expect(told()).toEqual(['response.too_many full', 'response.too_many also full']);
  nowMs += 600_000;
  lose('response.too_many', 'full');
  expect(told()).toEqual(['response.too_many full']);

  lose('response.unavailable', 'a');
  lose('response.unavailable', 'b');
  watch.kept();
  watch.kept();
  watch.lost(new Error('odd'), 'a', 'r');
  expect(told()).toEqual(['response.unavailable a', 'responses are kept again', 'internal a']);
});
