import { describe, expect, it } from 'vitest';
import { idleByResource } from './idle.ts';
import type { AuditResource } from './kernel/access.ts';

const paths = (resource: AuditResource, shown: object) =>
  (idleByResource[resource]?.(shown as Record<string, unknown>) ?? []).map(({ path }) => path);

type Case = [AuditResource, object, object, string[]];

/** A resource, what of it acts by something else, and what does nothing without that. */
function idle(resource: AuditResource, said: object, acts: object, ...expected: string[]): Case {
  return [resource, said, acts, expected];
}

const mcp = (configurations: object, auth_type = 'none') => ({ auth_type, configurations });
const agent = (configurations: object, protocol = 'a2a') => ({ protocol, configurations });
const told = (user_identity_forwarding: object) => mcp({ user_identity_forwarding });
const checked = (jwt_validation: object) => mcp({ jwt_validation });
const url = 'https://issuer.example/x';
const budget = { type: 'cost', credit_limit: 5 };
const key = (fields: object) => ({ type: 'workspace-service', ...fields });
const c = 'configurations';
const saved = (parameters: object) => ({ parameters, virtual_key: 'main' });
const when = (
  ...conditions: { key: string; value: string | string[]; excludes?: string | string[] }[]
) => ({ conditions });

describe('what does nothing beside the rest of a resource', () => {
  it.each<Case>([
    idle(
      'mcp_integrations',
      mcp({ custom_headers: { a: '1' } }),
      mcp({ custom_headers: { a: '1' } }, 'headers'),
      `${c}.custom_headers`,
    ),
    idle(
      'mcp_integrations',
      mcp({ oauth_metadata: { issuer: url } }, 'headers'),
      mcp({ oauth_metadata: { issuer: url } }, 'oauth_auto'),
      `${c}.oauth_metadata`,
    ),
    idle(
      'mcp_integrations',
      mcp({ oauth_metadata: { authorization_endpoint: url } }, 'oauth_client_credentials'),
      mcp({ oauth_metadata: { token_endpoint: url } }, 'oauth_client_credentials'),
      `${c}.oauth_metadata.authorization_endpoint`,
    ),
    idle(
      'mcp_integrations',
      mcp({ passthrough_header: { 'MCP-Session-Id': '1', Accept: 'a/b', 'x-a': '1' } }),
      mcp({ passthrough_header: { 'x-a': '1' } }),
      `${c}.passthrough_header.MCP-Session-Id`,
      `${c}.passthrough_header.Accept`,
    ),
    idle(
      'mcp_integrations',
      mcp({ forward_headers: ['x-a', 'Authorization', { from: 'x-b', to: 'cookie' }] }),
      mcp({ forward_headers: { mode: 'all-except', headers: ['authorization'] } }),
      `${c}.forward_headers[1]`,
      `${c}.forward_headers[2]`,
    ),
    idle(
      'mcp_integrations',
      mcp({ forward_headers: { mode: 'allowlist', headers: ['cookie'] } }),
      mcp({ forward_headers: { mode: 'allowlist', headers: ['x-a'] } }),
      `${c}.forward_headers.headers[0]`,
    ),
    idle(
      'mcp_integrations',
      told({ method: 'jwt_header', include_claims: ['sub', 'email'], forward_gateway_token: true }),
      told({ method: 'jwt_header', include_claims: ['sub'], forward_gateway_token: false }),
      `${c}.user_identity_forwarding.include_claims[1]`,
      `${c}.user_identity_forwarding.forward_gateway_token`,
    ),
    idle(
      'mcp_integrations',
      told({ method: 'bearer', forward_gateway_token: false }),
      told({ method: 'bearer', forward_gateway_token: true }),
      `${c}.user_identity_forwarding.method`,
    ),
    idle(
      'mcp_integrations',
      told({ method: 'claims_header', header_name: 'MCP-Who' }),
      told({ method: 'claims_header', header_name: 'X-Who' }),
      `${c}.user_identity_forwarding.header_name`,
    ),
    idle(
      'mcp_integrations',
      told({ method: 'bearer', include_claims: ['sub'], forward_gateway_token: true }),
      told({ method: 'bearer', forward_gateway_token: true }),
      `${c}.user_identity_forwarding.include_claims`,
    ),
    idle(
      'mcp_integrations',
      checked({ jwks: {}, introspectCacheMaxAge: 5, introspectClientId: 'a', cacheMaxAge: 60 }),
      checked({ jwksUri: url, cacheMaxAge: 60, algorithms: ['RS256'] }),
      `${c}.jwt_validation.introspectClientId`,
      `${c}.jwt_validation.introspectCacheMaxAge`,
      `${c}.jwt_validation.cacheMaxAge`,
    ),
    idle(
      'mcp_integrations',
      checked({ introspectEndpoint: url, introspectClientSecret: 's', algorithms: ['RS256'] }),
      checked({ introspectEndpoint: url, introspectClientSecret: 's', introspectClientId: 'a' }),
      `${c}.jwt_validation.algorithms`,
      `${c}.jwt_validation.introspectClientSecret`,
    ),
    idle(
      'agent_integrations',
      agent({ push_notifications: 'relay' }, 'openai'),
      agent({ push_notifications: 'relay' }),
      `${c}.push_notifications`,
    ),
    idle(
      'agent_integrations',
      agent({ forward_headers: ['cookie'], custom_headers: { 'Accept-Encoding': 'br' } }),
      // An agent may be named the caller's own credential.
      agent({ forward_headers: ['authorization'], custom_headers: { authorization: 'x' } }),
      `${c}.custom_headers.Accept-Encoding`,
      `${c}.forward_headers[0]`,
    ),
    idle(
      'api_keys',
      key({ alert_emails: ['a@example.org'] }),
      key({ alert_emails: ['a@example.org'], usage_limits: budget }),
      'alert_emails',
    ),
    idle(
      'api_keys',
      { type: 'organisation-service', usage_limits: budget, defaults: { config_id: 'pc-a' } },
      { type: 'organisation-service', rate_limits: [], defaults: { allow_config_override: true } },
      'usage_limits',
      'defaults.config_id',
    ),
    idle(
      'api_keys',
      key({ usage_limits: { type: 'tokens', credit_limit: 500, unpriced: 'refuse' } }),
      key({ usage_limits: { ...budget, unpriced: 'refuse' } }),
      'usage_limits.unpriced',
    ),
    idle(
      'providers',
      { rate_limits: [{ type: 'requests', admission: 'strict', estimate: 'observed' }] },
      { rate_limits: [{ type: 'tokens', admission: 'strict', estimate: 'observed' }] },
      'rate_limits[0].admission',
      'rate_limits[0].estimate',
    ),
    idle(
      'workspaces',
      { usage_limits: [budget, { type: 'tokens', unpriced: 'pass' }] },
      { usage_limits: [{ ...budget, unpriced: 'pass' }, { type: 'tokens' }] },
      'usage_limits[1].unpriced',
    ),
    idle(
      'policies',
      { type: 'requests', estimate: 'observed' },
      { type: 'cost', estimate: 'observed', unpriced: 'refuse' },
      'estimate',
    ),
    idle(
      'policies',
      when(
        { key: 'model', value: ['a', 'B'], excludes: ['b ', 'A'] },
        { key: 'config', value: '*', excludes: '*' },
      ),
      when(
        { key: 'model', value: ['a', 'b'], excludes: 'b' },
        { key: 'config', value: '*', excludes: 'a' },
      ),
      'conditions[0]',
      'conditions[1]',
    ),
    // Which of two it meets stands in one condition; a tool and a model may each have two names.
    idle(
      'policies',
      when({ key: 'metadata.env', value: 'a' }, { key: 'metadata.env', value: ['b', 'c'] }),
      when(
        ...[
          { key: 'metadata.env', value: ['a', 'b'] },
          { key: 'metadata.env', value: 'B' },
        ],
        ...[
          { key: 'metadata.x', value: 'x' },
          { key: 'metadata.x', value: '*' },
        ],
        ...[
          { key: 'mcp_tool', value: 'a' },
          { key: 'mcp_tool', value: 'b' },
        ],
      ),
      'conditions[1]',
    ),
    idle(
      'policies',
      when(
        { key: 'mcp_server', value: '*' },
        { key: 'model', value: '*' },
        { key: 'mcp_tool', value: '*' },
      ),
      when(
        { key: 'mcp_server', value: '*' },
        { key: 'provider', value: 'mcp' },
        { key: 'mcp_tool', value: '*' },
      ),
      'conditions[1]',
      'conditions[2]',
    ),
    idle(
      'policies',
      when(
        {
          key: 'endpoint_type',
          value: ['chatComplete', 'listModels', 'PROMPTCOMPLETE', 'mcpMessage', 'agentCall'],
        },
        { key: 'endpoint_type', value: 'explain' },
      ),
      when({ key: 'endpoint_type', value: ['chatComplete', 'proxy', '*'] }),
      ...[1, 2, 3, 4].map((index) => `conditions[0].value[${index}]`),
      'conditions[1].value',
    ),
    // Requests say no more of a value.
    idle(
      'policies',
      when(
        { key: 'metadata.url', value: 'a'.repeat(129), excludes: 'b'.repeat(129) },
        { key: 'metadata.doc', value: ['c', 'c'.repeat(129)] },
      ),
      when(
        { key: 'metadata.url', value: `${'a'.repeat(128)} `, excludes: 'b' },
        { key: 'model', value: ['c', 'c'.repeat(129)] },
      ),
      'conditions[0].value',
      'conditions[0].excludes',
      'conditions[1].value[1]',
    ),
    idle(
      'prompts',
      saved({ stream: true, variables: {}, append_messages: [], hyperparameters: {}, n: 1 }),
      saved({ temperature: 1, messages: [] }),
      ...['stream', 'variables', 'append_messages', 'hyperparameters'].map(
        (name) => `parameters.${name}`,
      ),
    ),
    idle(
      'prompts',
      { ...saved({ tools: [], functions: [], model: 'a' }), tools: [], model: 'b' },
      { ...saved({ functions: [], model: 'a' }), tools: [], model: 'a' },
      'parameters.tools',
      'model',
    ),
    idle(
      'prompts',
      { ...saved({}), model: '@other/m' },
      { ...saved({}), model: '@main/m' },
      'virtual_key',
    ),
    idle(
      'prompts',
      { ...saved({}), is_raw_template: true, template_metadata: { template_type: 'completion' } },
      { ...saved({}), is_raw_template: true, template_metadata: { template_type: 'chat' } },
      'is_raw_template',
    ),
  ])('of %s %j, but not of %j', (resource, said, acts, expected) => {
    expect(paths(resource, said)).toEqual(expected);
    expect(paths(resource, acts)).toEqual([]);
    expect(paths(resource, {})).toEqual([]);
  });
});
