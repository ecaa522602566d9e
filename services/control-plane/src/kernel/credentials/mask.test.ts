import { createServiceKey, maskServiceKey } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { isSecretName, maskedHeaders, maskedJson, maskSecrets, maskText } from './mask.ts';

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

  it('shows switches and amounts, whatever they are called', () => {
    const shown = {
      keys: { membersManageKeys: true, managersViewKeys: null },
      user_keys: { user_api_key_ttl: 86_400, max_user_api_keys_per_user: 5 },
      joining: { default_workspace_user_api_key_auto_create: false },
      stored_credentials: { allow_any_custom_host: true },
      workspace_overrides: { keys: true },
      metadata_schemas: { api_keys: { properties: { team: { type: 'string', enum: ['a'] } } } },
      workspace_api_key_details: { scopes: ['configs.create'] },
      pay_as_you_go: { request_token: { price: 0.25 } },
      max_tokens: 5,
    };
    expect(maskSecrets(shown)).toEqual(shown);
  });

  it('hides texts of any depth, lists, and numbers where a text belongs', () => {
    expect(
      maskSecrets({
        credentials: { account: { id: 'a', keys: ['b'], active: true } },
        metadata_schemas: { api_keys: { password: 'c' } },
        api_keys: ['d'],
        password: 1234,
        secret: { pin: { token: 5 } },
        custom_headers: { 'x-pin': 1234 },
      }),
    ).toEqual({
      credentials: { account: { id: '*******', keys: '*******', active: true } },
      metadata_schemas: { api_keys: { password: '*******' } },
      api_keys: '*******',
      password: '*******',
      secret: { pin: { token: '*******' } },
      custom_headers: { 'x-pin': '*******' },
    });
  });

  it('looks into documents that travel as text', () => {
    const config = JSON.stringify({ targets: [{ provider: 'openai', api_key: 'sk-secret' }] });
    const hidden = '{"targets":[{"provider":"openai","api_key":"*******"}]}';
    expect(maskSecrets({ config })).toEqual({ config: hidden });
    expect(maskedHeaders({ 'x-service-config': config })).toBe(
      JSON.stringify({ 'x-service-config': hidden }),
    );
    expect(maskSecrets('{"api_key": cut')).toBe('{"api_key": cut');
  });

  it('hides service keys wherever they are', () => {
    const key = createServiceKey('sl_');
    const shown = maskServiceKey(key);
    expect(maskText(`/v1/api-keys/${key}/rotate`)).toBe(`/v1/api-keys/${shown}/rotate`);
    expect(maskSecrets({ name: `is ${key}?` })).toEqual({ name: `is ${shown}?` });
    const other = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    expect(maskText(other)).toBe(other);
  });

  it('hides the credentials of addresses, and what is sent on to servers', () => {
    expect(
      maskSecrets({
        url: 'see https://mcp.example.org/mcp?team=a&apiKey=secret&x=1#top',
        passthrough_header: { 'x-team': 'secret' },
        oauth_metadata: { authorization_endpoint: 'https://id.example.org/authorize' },
      }),
    ).toEqual({
      url: 'see https://mcp.example.org/mcp?team=a&apiKey=*******&x=1#top',
      passthrough_header: { 'x-team': '*******' },
      oauth_metadata: { authorization_endpoint: 'https://id.example.org/authorize' },
    });
  });

  it('cuts long bodies, and leaves JSON', () => {
    const text = maskedJson({ text: '"'.repeat(100_000) });
    expect(text.length).toBeLessThan(17_000);
    expect(JSON.parse(text)).toEqual({ cut: expect.stringMatching(/^\{"text":/) });
  });
});
