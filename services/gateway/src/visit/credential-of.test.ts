import { describe, expect, it } from 'vitest';
import type { Target } from '../exchange/target.ts';
import { credentialOf } from './credential-of.ts';

interface Example {
  saved?: string;
  apiKey?: string;
  configKey?: string;
  configSettings?: Record<string, string>;
  forward?: readonly string[];
  caller?: Record<string, string>;
  sent?: Record<string, string>;
}

const settings = [
  'aws-access-key-id',
  'aws-secret-access-key',
  'aws-role-arn',
  'aws-region',
  'azure-ad-token',
  'vertex-service-account-json',
] as const;
const callerHeaders = ['modal-key', 'openai-organization', 'anthropic-beta'] as const;
const entry = { settings, callerHeaders, endpoints: {} };

function identity(example: Example): string {
  const target = {
    planned: { apiKey: example.configKey, configurations: example.configSettings ?? {} },
    saved: example.saved === undefined ? undefined : { slug: example.saved },
    entry,
    settingHeaders: example.caller ?? {},
    apiKey: example.configKey ?? example.apiKey ?? '',
    forwardHeaders: example.forward,
  } as unknown as Target;
  return credentialOf(target, { headers: example.sent ?? {} });
}

describe('credentialOf', () => {
  it('is the name of a saved provider where nobody adds to it, whatever else callers send', () => {
    expect(
      identity({ saved: 'main', caller: { authorization: 'x', 'x-service-trace-id': 't' } }),
    ).toBe('@main');
  });

  it.each(settings)('tells callers apart who send another %s', (name) => {
    for (const saved of [undefined, 'main']) {
      const of = (value?: string) =>
        identity({
          ...(saved === undefined ? {} : { saved }),
          caller: value === undefined ? {} : { [`x-service-${name}`]: value },
        });
      expect(new Set([of(), of('a'), of('b')]).size).toBe(3);
      expect(of('a')).toBe(of('a'));
    }
  });

  it('tells callers apart whose own headers of the vendor say whose account it is', () => {
    const of = (caller: Record<string, string>) => identity({ caller });
    const all = [
      of({}),
      of({ 'modal-key': 'a' }),
      of({ 'modal-key': 'b' }),
      of({ 'x-service-openai-organization': 'o' }),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(of({ 'anthropic-beta': 'x' })).toBe(of({}));
  });

  it.each(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie'])(
    'tells callers apart whose %s is forwarded',
    (name) => {
      const of = (value: string) =>
        identity({ saved: 'main', forward: [name.toUpperCase()], sent: { [name]: value } });
      expect(of('a')).not.toBe(of('b'));
    },
  );

  it('tells configs apart that bring keys or settings of their own', () => {
    const all = [
      identity({ saved: 'main' }),
      identity({ saved: 'main', configKey: 'k' }),
      identity({ saved: 'main', configSettings: { aws_role_arn: 'a' } }),
      identity({ saved: 'main', configSettings: { aws_role_arn: 'b' } }),
      identity({ saved: 'other' }),
      identity({ apiKey: 'k' }),
      identity({ apiKey: 'l' }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});
