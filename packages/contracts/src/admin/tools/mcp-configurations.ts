import { z } from 'zod';
import { headerNameField, headersField, hostField } from '../../fields/fields.ts';
import { openObject } from '../../fields/kept-only.ts';
import { externalAuthConfig, jwtValidation, userIdentityForwarding } from '../../user-identity.ts';

const headerChoice = z.union([
  headerNameField,
  z.object({ from: headerNameField, to: headerNameField }),
]);
const headerChoices = z.array(headerChoice).max(100);

/** Headers of the caller that are copied to the server. */
const forwardHeaders = z.union([
  headerChoices,
  z.object({ mode: z.enum(['allowlist', 'all-except']), headers: headerChoices }),
]);

/** A closed door for each of these names. */
function without(names: readonly string[]) {
  return (value: object) => !Object.keys(value).some((name) => names.includes(name));
}

const settledByGateway = ['redirect_uris', 'jwks', 'jwks_uri', 'software_statement'];
const settledByProtocol = [
  'response_type',
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'redirect_uri',
  'state',
  'scope',
  'resource',
];

/** Overrides what discovery and registration at the authorisation server would find. */
const oauthMetadata = z
  .looseObject({
    issuer: hostField.nullish(),
    authorization_endpoint: hostField.nullish(),
    token_endpoint: hostField.nullish(),
    registration_endpoint: hostField.nullish(),
    revocation_endpoint: hostField.nullish(),
    client_id: z.string().max(2048).nullish(),
    client_secret: z.string().max(8192).nullish(),
    scope: z.string().max(2048).nullish(),
    token_endpoint_auth_method: z
      .enum(['none', 'client_secret_basic', 'client_secret_post'])
      .nullish(),
    // Some authorisation servers refuse what RFC 8707 has clients send.
    send_resource: z.boolean().nullish(),
    authorization_params: z
      .record(z.string().max(128), z.string().max(2048))
      .refine(without(settledByProtocol), `may not hold ${settledByProtocol.join(', ')}`)
      .nullish(),
  })
  .refine(without(settledByGateway), `may not hold ${settledByGateway.join(', ')}`);

/** Settings of MCP servers and of agents alike. */
export const callerSettings = {
  custom_headers: headersField.nullish(),
  headers: headersField.nullish(),
  passthrough_headers: headersField.nullish(),
  forward_headers: forwardHeaders.nullish(),
  user_identity_forwarding: userIdentityForwarding.nullish(),
};

const mcpSettings = {
  ...callerSettings,
  passthrough_header: headersField.nullish(),
  oauth_metadata: oauthMetadata.nullish(),
  jwt_validation: jwtValidation.nullish(),
  external_auth_config: externalAuthConfig.nullish(),
  disablePooling: z.boolean().nullish(),
};
export const mcpSettingNames = Object.keys(mcpSettings);

/** How an MCP server is called. Names that nobody knows are kept as they are. */
export const mcpConfigurations = openObject(mcpSettings)
  .refine((value) => Object.keys(value).length <= 100, 'may hold 100 entries at most')
  .transform(({ headers, passthrough_headers, ...rest }) => ({
    ...rest,
    ...(headers === undefined ? {} : { custom_headers: headers }),
    ...(passthrough_headers === undefined ? {} : { passthrough_header: passthrough_headers }),
  }));
