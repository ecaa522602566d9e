import { expect, it } from 'vitest';
import { hostsOf } from './air-gap-part.ts';

it('names the hosts of settings once, and no credential', () => {
  expect(
    hostsOf([
      undefined,
      '',
      'postgres://u:p@ss@db.corp:5432/sluice?x=1',
      'nats://a:b@n1:4222, nats://n2:4222',
      'control-plane:8790',
      'https://otel.corp/v1',
      'control-plane:8790',
    ]),
  ).toEqual(['control-plane:8790', 'db.corp:5432', 'n1:4222', 'n2:4222', 'otel.corp']);
});
