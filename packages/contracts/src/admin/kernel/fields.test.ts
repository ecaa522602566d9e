import { describe, expect, it } from 'vitest';
import { headersField, hostField, instantField, nameField } from '../../fields/fields.ts';
import { rateLimitsPoliciesEndpoints } from '../limits/rate-limits-policies.ts';
import { rotationPolicy } from '../people/rotation-policy.ts';

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

  it.each([
    '',
    'yesterday',
    '2024-13-12T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-04-31',
    '0000-12-31T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '1715549826',
  ])('refuses %j', (text) => {
    expect(instantField.safeParse(text).success).toBe(false);
  });
});

describe('headersField', () => {
  it.each(['Content-Length', 'transfer-encoding', 'expect', 'upgrade', 'keep-alive'])(
    'refuses %s, with which no request could be sent',
    (name) => {
      expect(headersField.safeParse({ 'x-team': 'a', [name]: '5' }).success).toBe(false);
    },
  );

  it('takes what a provider may want otherwise', () => {
    const headers = { host: 'models.example', connection: 'close', 'Content-Type': 'text/plain' };
    expect(headersField.parse(headers)).toEqual(headers);
  });
});

describe('the body of a new rate-limits policy', () => {
  const policy = {
    conditions: [{ key: 'api_key', value: '*' }],
    group_by: [{ key: 'api_key' }],
    type: 'requests',
    unit: 'rpw',
    value: 1,
  };
  const faults = (change: object) =>
    rateLimitsPoliciesEndpoints['rate-limits-policies.create'].body
      ?.safeParse({ ...policy, ...change })
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

describe('nameField', () => {
  it('counts characters, whatever they weigh', () => {
    for (const letter of ['n', 'ü', '😀']) {
      expect(nameField.safeParse(letter.repeat(255)).success, letter).toBe(true);
      expect(nameField.safeParse(letter.repeat(256)).success, letter).toBe(false);
    }
    expect(nameField.safeParse('   ').success).toBe(false);
  });
});

describe('hostField', () => {
  it('holds no credentials', () => {
    expect(hostField.safeParse('https://example.org:8443/v1').success).toBe(true);
    for (const host of ['https://user@example.org', 'https://:p@example.org', 'file:///etc/passwd'])
      expect(hostField.safeParse(host).success, host).toBe(false);
  });
});

describe('a rotation policy', () => {
  const parse = (rotation_policy: object) => rotationPolicy.safeParse(rotation_policy);

  it('has a transition shorter than its period', () => {
    const dayMs = 86_400_000;
    const daily = { rotation_period_days: 1, key_transition_period_ms: dayMs };
    expect(parse(daily).error?.issues[0]?.path.join('.')).toBe('key_transition_period_ms');
    expect(parse({ ...daily, key_transition_period_ms: dayMs - 1 }).success).toBe(true);
    expect(parse({ rotation_period: 'weekly', key_transition_period_ms: 7 * dayMs }).success).toBe(
      false,
    );
  });
});
