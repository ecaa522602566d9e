import type { ProviderEntry } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { adminsSettings } from './admins-settings.ts';
import type { Target } from './target.ts';

const entry = {
  id: 'example',
  baseUrl: 'https://{resource}.example.com',
  settings: ['resource', 'aws-auth-type'],
} as unknown as ProviderEntry;

function settingsAt(origin: string, over: Partial<Target> = {}) {
  const target = {
    entry,
    saved: { configurations: { resource: 'ours', aws_auth_type: 'serviceRole' } },
    customHost: undefined,
    ...over,
  } as unknown as Target;
  const context = { model: 'm', stream: false } as never;
  return adminsSettings(target, { origin, call: undefined, context });
}

describe('adminsSettings', () => {
  it('are what admins saved, at the address that follows from it', () => {
    expect(settingsAt('https://ours.example.com')?.('aws-auth-type')).toBe('serviceRole');
    expect(settingsAt('https://ours.example.com')?.('aws-region')).toBeUndefined();
  });

  it('are not shown at an address that a caller’s setting or host makes', () => {
    expect(settingsAt('https://theirs.example.com')).toBeUndefined();
    for (const field of ['x-service-custom-host', 'config.custom_host', 'targets[0].custom_host'])
      expect(
        settingsAt('https://ours.example.com', {
          customHost: { url: 'https://x', field, by: 'caller' },
        }),
      ).toBeUndefined();
    expect(settingsAt('https://evil-amazonaws.com')).toBeUndefined();
    expect(settingsAt('https://amazonaws.com.evil.example')).toBeUndefined();
  });

  it('hold at hosts that admins named, and at those that only a cloud can have', () => {
    for (const field of ['@main.custom_host', 'model.custom_host'])
      expect(
        settingsAt('https://private.example.org', {
          customHost: { url: 'https://x', field, by: 'admin' },
        }),
      ).toBeDefined();
    expect(settingsAt('https://bedrock-runtime.eu-west-1.amazonaws.com')).toBeDefined();
    expect(settingsAt('https://us-aiplatform.googleapis.com')).toBeDefined();
  });

  it('are none where the provider is the caller’s own', () => {
    expect(settingsAt('https://ours.example.com', { saved: undefined })).toBeUndefined();
  });
});
