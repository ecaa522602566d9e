import { type McpAddress, mcpPath, mcpScopesSupported } from '@sluice/contracts';
import { oauthPaths } from './authorization-server.ts';
import type { IssuedServerRow } from './store.ts';

/**
 * RFC 9728, of one server at one address. @param servers  those that may be meant: an address without a workspace can be of several
 * organisations' servers, and who calls is not known yet
 */
export function resourceDocument(
  base: string,
  address: McpAddress,
  servers: readonly Pick<IssuedServerRow, 'issuer' | 'scope'>[],
): object {
  const issuers = new Set(servers.map(({ issuer }) => issuer ?? base));
  const scopes = new Set(
    servers.flatMap(({ issuer, scope }) =>
      issuer === null ? mcpScopesSupported : (scope ?? '').split(' ').filter((each) => each !== ''),
    ),
  );
  return {
    resource: `${base}${mcpPath(address)}`,
    // Of an address where nothing is it is not told that nothing is.
    authorization_servers: issuers.size === 0 ? [base] : [...issuers],
    bearer_methods_supported: ['header'],
    ...(issuers.size === 0
      ? { scopes_supported: mcpScopesSupported }
      : scopes.size === 0
        ? {}
        : { scopes_supported: [...scopes] }),
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
