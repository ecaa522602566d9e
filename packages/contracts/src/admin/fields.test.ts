import { describe, expect, it } from 'vitest';
import { instantField } from './fields.ts';
import { createRateLimitsPolicyBody } from './rate-limits-policies.ts';

describe('instantField', () => {
  it.each([
    ['2024-05-12T21:37:06.000Z', '2024-05-12T21:37:06.000Z'],
    ['2024-05-12T21:37:06+02:00', '2024-05-12T19:37:06.000Z'],
    ['2024-05-12T21:37:06 02:00', '2024-05-12T19:37:06.000Z'],
    ['2024-05-12 21:37:06', '2024-05-12T21:37:06.000Z'],
    ['2024-05-12', '2024-05-12T00:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(instantField.parse(text).toISOString()).toBe(expected);
  });

  it.each(['', 'yesterday', '2024-13-12T00:00:00Z', '1715549826'])('refuses %j', (text) => {
    expect(instantField.safeParse(text).success).toBe(false);
  });
});

describe('createRateLimitsPolicyBody', () => {
  const policy = {
    conditions: [{ key: 'api_key', value: '*' }],
    group_by: [{ key: 'api_key' }],
    type: 'requests',
    unit: 'rpw',
    value: 1,
  };
  const faults = (change: object) =>
    createRateLimitsPolicyBody
      .safeParse({ ...policy, ...change })
      .error?.issues.map((issue) => issue.path.join('.')) ?? [];

  it('knows a closed list of keys', () => {
    expect(faults({})).toEqual([]);
    expect(
      faults({ conditions: [{ key: 'metadata._user', value: ['a', 'b'], excludes: 'c' }] }),
    ).toEqual([]);
    expect(faults({ conditions: [{ key: 'colour', value: 'red' }] })).toEqual(['conditions.0.key']);
    expect(faults({ group_by: [{ key: 'mcp_tool' }] })).toEqual(['group_by.0.key']);
  });

  it('needs conditions, groups and a value of at least one', () => {
    expect(faults({ conditions: [] })).toEqual(['conditions']);
    expect(faults({ group_by: undefined })).toEqual(['group_by']);
    expect(faults({ value: 0 })).toEqual(['value']);
    expect(faults({ unit: 'tpd' })).toEqual(['unit']);
  });
});
