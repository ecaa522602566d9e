import { type McpAddress, mcpPath, mcpScopesSupported } from '@sluice/contracts';
import { oauthPaths } from './authorization-server.ts';

/** RFC 9728, of one server at one address. */
export function resourceDocument(base: string, address: McpAddress): object {
  return {
    resource: `${base}${mcpPath(address)}`,
    authorization_servers: [base],
    bearer_methods_supported: ['header'],
    scopes_supported: mcpScopesSupported,
  };
}

/**
 * RFC 8414. At an address with a server's path behind it the issuer is that address, as the RFC wants: clients of before ask there,
 * and take the server for its own authorisation server. Its answers name the same issuer.
 */
export function serverDocument(base: string, address?: McpAddress): object {
  const { authorize, token, register, revoke, introspect, jwks } = oauthPaths;
  const own = address && mcpPath(address);
  return {
    issuer: `${base}${own ?? ''}`,
    authorization_endpoint: `${base}${own === undefined ? authorize : `/oauth${own.replace(/\/mcp$/, '')}/authorize`}`,
    token_endpoint: `${base}${token}`,
    registration_endpoint: `${base}${register}`,
    revocation_endpoint: `${base}${revoke}`,
    introspection_endpoint: `${base}${introspect}`,
    jwks_uri: `${base}${jwks}`,
    scopes_supported: mcpScopesSupported,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: [
      'none',
      'client_secret_basic',
      'client_secret_post',
    ],
    introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}
