import { describe, expect, it } from 'vitest';
import { findProvider } from './catalog.ts';
import type { ProviderEntry } from './contract.ts';
import { readSettings } from './settings.ts';

const provider: ProviderEntry = {
  ...findProvider('openai')!,
  settings: ['aws-region', 'aws-session-token'],
};

describe('readSettings', () => {
  it('takes what is configured before what the caller sends', () => {
    const headers = { 'x-service-aws-region': 'from-caller' };
    expect(readSettings(provider, {}, headers)('aws-region')).toBe('from-caller');
    expect(readSettings(provider, { aws_region: 'snake' }, headers)('aws-region')).toBe('snake');
    expect(readSettings(provider, { awsRegion: 'camel' }, headers)('aws-region')).toBe('camel');
    const pair = { aws_region: 'snake', awsRegion: 'camel' };
    expect(readSettings(provider, pair, {})('aws-region')).toBe('snake');
  });

  it('does not let callers set what the provider does not know', () => {
    const headers = { 'x-service-custom-host': 'evil', 'aws-region': 'bare' };
    const setting = readSettings(provider, {}, headers);
    expect(setting('custom-host')).toBeUndefined();
    expect(setting('aws-region')).toBeUndefined();
  });

  it('reads whatever is configured, though: admins know their provider', () => {
    expect(readSettings(provider, { other_thing: 'x' }, {})('other-thing')).toBe('x');
  });

  it('takes an empty text for nothing, also in front of one that says something', () => {
    const headers = { 'x-service-aws-region': 'from-caller' };
    expect(readSettings(provider, { aws_region: '' }, headers)('aws-region')).toBe('from-caller');
    expect(
      readSettings(provider, {}, { 'x-service-aws-region': '' })('aws-region'),
    ).toBeUndefined();
  });

  it.each([
    [7, '7'],
    [false, 'false'],
    [{ type: 'service_account' }, '{"type":"service_account"}'],
    [null, undefined],
    [undefined, undefined],
  ])('reads %j as %j', (value, expected) => {
    expect(readSettings(provider, { aws_region: value }, {})('aws-region')).toBe(expected);
  });

  it('does not find what every object has', () => {
    expect(readSettings(provider, {}, {})('constructor')).toBeUndefined();
    expect(readSettings(provider, {}, {})('to-string')).toBeUndefined();
  });
});
