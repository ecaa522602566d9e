import {
  agentHeaderNames,
  mcpHeaderNames,
  saysWhoCalls,
  type ToolHeaders,
} from '../../tool-headers.ts';
import { toldClaims } from '../../user-identity.ts';
import { type IdleField, isSaid, objectIn, type Shown } from '../kernel/idle-fields.ts';

/** Of an MCP integration. */
export function idleOfMcpIntegration(shown: Shown): readonly IdleField[] {
  const configurations = objectIn(shown, 'configurations');
  return [
    ...idleCredentials(shown.auth_type, configurations),
    ...idleHeaders(configurations, mcpHeaderNames),
    ...idleIdentity(objectIn(configurations, 'user_identity_forwarding')),
    ...idleValidation(objectIn(configurations, 'jwt_validation')),
  ].map(below);
}

/** Of an agent. */
export function idleOfAgentIntegration(shown: Shown): readonly IdleField[] {
  const configurations = objectIn(shown, 'configurations');
  const idle = [
    ...idleHeaders(configurations, agentHeaderNames),
    ...idleIdentity(objectIn(configurations, 'user_identity_forwarding')),
  ];
  if (shown.protocol !== 'a2a' && configurations.push_notifications != null)
    idle.push({
      path: 'push_notifications',
      why: 'only agents of the protocol a2a are asked for them',
      by: ['protocol'],
    });
  return idle.map(below);
}

function below(idle: IdleField): IdleField {
  return { ...idle, path: `configurations.${idle.path}` };
}

/** What tells the server who we are, beside a way of doing so that is another. */
function idleCredentials(authType: unknown, configurations: Shown): IdleField[] {
  const by = ['auth_type'];
  const idle: IdleField[] = [];
  if (authType !== 'headers' && isSaid(configurations.custom_headers))
    idle.push({
      path: 'custom_headers',
      why: `they are sent with auth_type headers, and it is ${authType}; passthrough_header is sent with any`,
      by,
    });
  const metadata = objectIn(configurations, 'oauth_metadata');
  if (authType === 'headers' || authType === 'none') {
    if (isSaid(metadata))
      idle.push({
        path: 'oauth_metadata',
        why: `nobody signs in with auth_type ${authType}; say oauth_auto or oauth_client_credentials`,
        by,
      });
  } else if (authType === 'oauth_client_credentials')
    for (const name of ofPeople)
      if (isSaid(metadata[name]))
        idle.push({
          path: `oauth_metadata.${name}`,
          why: 'with auth_type oauth_client_credentials no people sign in',
          by,
        });
  return idle;
}

const ofPeople = [
  'authorization_endpoint',
  'authorization_params',
  'registration_endpoint',
  'revocation_endpoint',
] as const;

const fixed = ['custom_headers', 'passthrough_header', 'headers', 'passthrough_headers'] as const;

function idleHeaders(configurations: Shown, headers: ToolHeaders): IdleField[] {
  const setByUs = fixed.flatMap((field) =>
    Object.keys(objectIn(configurations, field))
      .filter((name) => !headers.sets(name.toLowerCase()))
      .map((name) => ({ path: `${field}.${name}`, why: 'whoever makes the call says it' })),
  );
  const forward = configurations.forward_headers;
  const isExcept = objectIn(configurations, 'forward_headers').mode === 'all-except';
  const listed = Array.isArray(forward) ? forward : (forward as Shown | undefined)?.headers;
  // Of those that are left out the names alone count.
  const choices = Array.isArray(listed) && !isExcept ? listed : [];
  const at = Array.isArray(forward) ? 'forward_headers' : 'forward_headers.headers';
  const never = choices.flatMap((choice: string | { from: string; to: string }, index) => {
    const { from, to } = typeof choice === 'string' ? { from: choice, to: choice } : choice;
    const name = [from, to].find((each) => !headers.forwards(String(each).toLowerCase()));
    return name === undefined
      ? []
      : [{ path: `${at}[${index}]`, why: `${name} is never taken from callers` }];
  });
  return [...setByUs, ...never];
}

function idleIdentity({ method, ...said }: Shown): IdleField[] {
  const at = 'user_identity_forwarding';
  const { include_claims: claims, forward_gateway_token: token } = said;
  const idle: IdleField[] = [];
  if (method === 'bearer' && token !== true)
    idle.push({
      path: `${at}.method`,
      why: 'bearer passes no token on without forward_gateway_token: true, and each call is refused',
    });
  if (typeof said.header_name === 'string' && !saysWhoCalls(said.header_name.toLowerCase()))
    idle.push({
      path: `${at}.header_name`,
      why: 'whoever makes the call says this header, and each call is refused',
    });
  if (method === 'bearer' && isSaid(claims))
    idle.push({ path: `${at}.include_claims`, why: "a caller's own token is passed on as it is" });
  else if (Array.isArray(claims))
    for (const [index, claim] of claims.entries())
      if (!(toldClaims as readonly unknown[]).includes(claim))
        idle.push({
          path: `${at}.include_claims[${index}]`,
          why: `it is no claim that is told; there are ${toldClaims.join(', ')}`,
        });
  if (method !== 'bearer' && method !== undefined && token === true)
    idle.push({ path: `${at}.forward_gateway_token`, why: 'only the method bearer passes one on' });
  return idle;
}

/** Settings of one way to learn what a token is worth, beside another. */
function idleValidation(said: Shown): IdleField[] {
  if (!isSaid(said)) return [];
  const introspects = said.introspectEndpoint != null;
  const tell = (names: readonly string[], why: string) =>
    names
      .filter((name) => said[name] != null)
      .map((name) => ({ path: `jwt_validation.${name}`, why }));
  return [
    ...(introspects
      ? tell(['algorithms'], 'the issuer is asked what a token is worth, and decides it')
      : tell(ofIntrospection, 'without introspectEndpoint nobody is asked what a token is worth')),
    ...(introspects && said.introspectClientId == null
      ? tell(['introspectClientSecret'], 'it is sent beside introspectClientId')
      : []),
    ...(said.jwksUri == null ? tell(['cacheMaxAge'], 'only keys of a jwksUri are fetched') : []),
  ];
}

const ofIntrospection = [
  'introspectContentType',
  'introspectClientId',
  'introspectClientSecret',
  'introspectCacheMaxAge',
];
