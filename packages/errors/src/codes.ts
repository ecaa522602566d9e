import { adminCodes } from './admin-codes.ts';
import { storedCodes } from './stored-codes.ts';

/**
 * Every error a caller can meet, in one table. `docs/errors.md` has a heading
 * for each, held to this table by a test.
 *
 * `status`   the HTTP status of the answer
 * `retry`    what may be tried instead: nothing, the same target again, or the next one
 * `text`     the public sentence when the thrower gives no better one
 * `admin`    errorCode of the admin API's envelope (AB01 … AB08), where it applies
 * `type`     `error.type` in OpenAI's and Anthropic's vocabulary
 * `detail`   `error.details.error_code` that Anthropic's clients act on, where there is one
 */
export interface ErrorSpec {
  readonly status: number;
  readonly retry: 'never' | 'same-target' | 'next-target';
  readonly text: string;
  readonly type: string;
  readonly admin?: string;
  readonly detail?: string;
}

const request = (status: number, text: string, admin?: string): ErrorSpec => ({
  status,
  retry: 'never',
  text,
  type: 'invalid_request_error',
  admin,
});
const upstream = (status: number, retry: ErrorSpec['retry'], text: string): ErrorSpec => ({
  status,
  retry,
  text,
  type: 'upstream_error',
});

export const errorCodes = {
  // Credentials
  'auth.missing_key': {
    status: 401,
    retry: 'never',
    type: 'authentication_error',
    admin: 'AB05',
    text: 'No service key was sent.',
  },
  'auth.invalid_key': {
    status: 401,
    retry: 'never',
    type: 'authentication_error',
    admin: 'AB05',
    text: 'The service key is not valid.',
  },
  'auth.expired_key': {
    status: 401,
    retry: 'never',
    type: 'authentication_error',
    admin: 'AB05',
    text: 'The service key has expired.',
  },
  'auth.suspended_key': {
    status: 403,
    retry: 'never',
    type: 'permission_error',
    admin: 'AB03',
    text: 'This API key is suspended.',
  },
  'auth.invalid_token': {
    status: 401,
    retry: 'never',
    type: 'authentication_error',
    admin: 'AB05',
    text: 'The token is not valid.',
  },
  'auth.token_not_accepted': {
    status: 403,
    retry: 'never',
    type: 'permission_error',
    admin: 'AB03',
    text: 'The token is not accepted here.',
  },
  'auth.issuer_unavailable': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    admin: 'AB04',
    text: 'The identity provider that vouches for the token cannot be asked.',
  },
  'auth.missing_scope': {
    status: 403,
    retry: 'never',
    type: 'permission_error',
    admin: 'AB03',
    text: 'You do not have enough permissions to execute this request',
  },
  'auth.wrong_key_type': {
    status: 403,
    retry: 'never',
    type: 'permission_error',
    admin: 'AB03',
    text: 'This kind of key cannot be used here.',
  },
  'auth.unavailable': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'The key is not known here yet and the control plane cannot be asked.',
  },

  // The request itself
  'request.route_not_found': request(404, 'No such route.', 'AB08'),
  'request.method_not_allowed': request(405, 'This method is not allowed here.'),
  'request.upgrade_required': request(426, 'This address is opened as a WebSocket.'),
  'request.malformed_json': request(400, 'The request body is not valid JSON.', 'AB01'),
  'request.too_deep': request(400, 'The request body is nested too deeply.', 'AB01'),
  'request.too_many_values': request(
    413,
    'The request body is made of more values than this gateway accepts.',
    'AB01',
  ),
  'request.ambiguous_member': request(
    400,
    'A member of the request body is there twice, or in another case.',
    'AB01',
  ),
  'request.too_large': request(
    413,
    'The request body is larger than this gateway accepts.',
    'AB01',
  ),
  'request.unsupported_content_type': request(400, 'This content type is not supported.', 'AB01'),
  'request.invalid_field': request(400, 'A field of the request is not valid.', 'AB01'),
  'request.thread_not_found': {
    status: 404,
    retry: 'next-target',
    text: 'The conversation is not kept here: send all of it.',
    type: 'not_found_error',
    detail: 'thread_not_found',
  },
  'request.state_not_kept': {
    status: 400,
    retry: 'next-target',
    text: 'The request refers to what is not kept here: send it in full.',
    type: 'invalid_request_error',
    admin: 'AB01',
  },
  'request.timeout': request(408, 'The request body arrived too slowly.', 'AB01'),
  'request.aborted': request(499, 'The caller closed the connection.'),
  'request.superseded': request(499, 'Another call of the same request answered first.'),
  'request.nitro_refused': request(
    400,
    'The request cannot go to the provider unread (x-service-nitro-mode).',
    'AB01',
  ),
  'request.unreadable': request(400, 'The request cannot be read as HTTP.'),
  'request.headers_too_large': request(431, 'The headers of the request are too large.'),
  'request.expectation_failed': request(417, 'Nothing but 100-continue is expected here.'),
  'request.invalid_header': request(400, 'A header of the request is not valid.', 'AB01'),

  // Routing
  'config.invalid': request(400, 'The config is not valid.', 'AB01'),
  'config.not_found': request(400, 'No config with this slug exists in the workspace.'),
  'config.prompt_not_found': request(
    400,
    'The config names a prompt that the workspace does not have.',
  ),
  'config.prompt_misplaced': request(
    400,
    'A config that names prompts is for saved prompts alone.',
  ),
  'config.no_route': request(400, 'The config names no target for this request.'),
  'config.override_forbidden': request(400, 'This key does not allow its config to be overridden.'),
  'prompt.not_found': request(404, 'Invalid prompt id', 'AB08'),
  'prompt.generate_gone': request(
    410,
    'This path is no more: call POST /v1/prompts/{reference}/completions.',
  ),
  'prompt.invalid': request(400, 'The prompt cannot be rendered.'),
  'provider.missing': request(400, 'Either x-service-config or x-service-provider is required.'),
  'provider.unknown': request(400, 'This provider is not known.'),
  'provider.not_found': request(400, 'No provider with this slug exists in the workspace.'),
  'provider.unavailable': request(400, 'This provider has expired.'),
  'provider.endpoint_unsupported': {
    status: 400,
    retry: 'next-target',
    type: 'invalid_request_error',
    text: 'This provider does not offer the endpoint.',
  },
  'provider.setting_missing': {
    status: 400,
    retry: 'next-target',
    type: 'invalid_request_error',
    text: 'A setting of the provider is missing.',
  },
  'provider.setting_invalid': {
    status: 400,
    retry: 'next-target',
    type: 'invalid_request_error',
    text: 'A setting of the provider cannot be used.',
  },
  'provider.authorisation_failed': {
    status: 401,
    retry: 'next-target',
    type: 'authentication_error',
    text: 'The credential of the provider could not be turned into its authorisation.',
  },
  'tools.unknown_server': request(400, 'The workspace has no MCP server of this name.'),
  'tools.denied': {
    status: 403,
    retry: 'never',
    type: 'permission_error',
    text: 'The MCP server may not be used.',
  },
  'tools.not_listed': {
    status: 424,
    retry: 'never',
    type: 'upstream_error',
    text: 'The tools of an MCP server could not be listed.',
  },
  'request.invalid_form': request(400, 'The multipart body cannot be read.'),
  'request.params_dropped': request(400, 'The provider cannot take fields of this request.'),
  'provider.model_not_allowed': request(403, 'This model is not enabled for the provider.'),
  'provider.model_unreadable': request(
    403,
    'The provider is limited to certain models, and the model of this request cannot be read.',
  ),
  'credential.mixed': request(
    400,
    'A stored credential is not used together with what the request says of it.',
  ),
  'host.not_allowed': request(400, 'A stored credential is not sent to this host.'),
  'credential.handed_out': request(
    403,
    'A stored credential is not used where the provider hands out another one, or has its webhooks.',
  ),
  'host.invalid': request(400, 'The custom host is not allowed.', 'AB01'),
  'host.air_gapped': {
    status: 400,
    retry: 'next-target',
    type: 'invalid_request_error',
    admin: 'AB01',
    text: 'The host is beyond the air gap of this installation.',
  },
  inline_config_blocked: request(400, 'Inline configs are blocked; use a saved config slug.'),
  inline_provider_blocked: request(400, 'Raw provider names are blocked; use a saved provider.'),
  inline_custom_host_blocked: request(400, 'Custom hosts are blocked.'),
  inline_provider_url_blocked: request(400, 'Provider address overrides are blocked.'),
  inline_forward_headers_blocked: request(400, 'Forwarding headers is blocked.'),

  // Guardrails
  'guardrail.denied': {
    status: 446,
    retry: 'next-target',
    type: 'hooks_failed',
    text: 'The guardrail checks configured for this request failed; see hook_results.',
  },
  'guardrail.not_found': request(400, 'No guardrail with this name exists in the workspace.'),
  'guardrail.not_in_force': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'A guardrail that every request must pass cannot be run.',
  },

  // Limits
  'limit.rate_exceeded': {
    status: 429,
    retry: 'next-target',
    type: 'rate_limit_error',
    admin: 'AB06',
    text: 'A rate limit is exceeded.',
  },
  'limit.budget_exhausted': {
    status: 412,
    retry: 'next-target',
    type: 'rate_limit_error',
    admin: 'AB06',
    text: 'A budget is used up.',
  },
  'limit.reserved': {
    status: 429,
    retry: 'same-target',
    type: 'rate_limit_error',
    admin: 'AB06',
    text: 'What is left of a limit is held by requests that are not over.',
  },
  'limit.sessions': {
    status: 429,
    retry: 'never',
    type: 'rate_limit_error',
    text: 'As many sessions are open at once as may be.',
  },
  'limit.unmetered': {
    status: 403,
    retry: 'next-target',
    type: 'permission_error',
    text: 'What is said with a client secret of the provider cannot be limited, and there are limits.',
  },
  'limit.max_cost': {
    status: 412,
    retry: 'next-target',
    type: 'invalid_request_error',
    text: 'The request may cost more than it says it may.',
  },
  'limit.unpriced': {
    status: 412,
    retry: 'next-target',
    type: 'rate_limit_error',
    text: 'No price is known of the model, or of a tool of the provider, and a budget takes none without.',
  },
  'limit.unavailable': {
    status: 503,
    retry: 'next-target',
    type: 'api_error',
    text: 'A limit cannot be checked, and does not let requests pass unchecked.',
  },

  // Upstreams
  'upstream.timeout': {
    status: 408,
    retry: 'next-target',
    type: 'timeout_error',
    text: 'The provider did not answer in time.',
  },
  'upstream.connect_timeout': upstream(
    503,
    'same-target',
    'The provider could not be reached in time.',
  ),
  'upstream.saturated': upstream(
    503,
    'next-target',
    'All connections to the provider are in use, and none became free in time.',
  ),
  'upstream.unreachable': upstream(503, 'same-target', 'The provider could not be reached.'),
  'upstream.reset': upstream(
    502,
    'same-target',
    'The provider closed the connection before it answered.',
  ),
  'upstream.invalid_response': upstream(
    502,
    'next-target',
    'The provider answered with something that is not its format.',
  ),
  'upstream.stream_cut': upstream(
    502,
    'never',
    'The provider ended the stream before it was complete.',
  ),
  'upstream.stream_stalled': upstream(504, 'never', 'The provider stopped sending.'),
  'upstream.response_too_large': upstream(
    502,
    'never',
    'The provider sent more than this gateway buffers.',
  ),
  'upstream.error': upstream(502, 'next-target', 'The provider answered with an error.'),

  // Agents
  'agent.not_found': request(404, 'No such agent server.', 'AB08'),
  'agent.forbidden': {
    status: 403,
    retry: 'never',
    type: 'permission_error',
    admin: 'AB03',
    text: 'You may not call this agent.',
  },
  'agent.path_invalid': request(400, 'The path below the agent is not sent on.'),
  'agent.task_not_found': request(404, 'Task not found'),
  'agent.push_not_supported': request(400, 'This agent may not call back.'),
  'model.not_found': {
    status: 404,
    retry: 'never',
    type: 'not_found_error',
    text: 'This workspace has no model of this name.',
  },
  'object.owner_unknown': {
    status: 404,
    retry: 'next-target',
    type: 'not_found_error',
    text: 'Nothing with this id is known here.',
  },
  'object.owners_differ': {
    status: 400,
    retry: 'never',
    type: 'invalid_request_error',
    text: 'The request names objects of several providers.',
  },
  'object.owners_unavailable': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'It cannot be found out at the moment whose object this is.',
  },
  'agent.tasks_unavailable': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'It cannot be found out at the moment whose task this is.',
  },
  'agent.misconfigured': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'A setting of this agent cannot be kept to.',
  },
  'agent.unreachable': upstream(502, 'never', 'The agent could not be reached.'),
  'agent.timeout': upstream(504, 'never', 'The agent did not answer in time.'),
  'agent.redirected': upstream(502, 'never', 'The agent redirects to somewhere else.'),
  'agent.callback_unreachable': upstream(
    502,
    'never',
    'The receiver of the callback could not be reached.',
  ),
  'agent.callback_timeout': upstream(
    504,
    'never',
    'The receiver of the callback did not answer in time.',
  ),
  'agent.callback_redirected': upstream(
    502,
    'never',
    'The receiver of the callback redirects to somewhere else.',
  ),
  'agent.bad_card': upstream(502, 'never', 'The agent shows no card that can be read.'),

  ...adminCodes,
  ...storedCodes,

  // Ours
  'gateway.draining': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'This gateway is shutting down.',
  },
  overloaded: {
    status: 503,
    retry: 'never',
    type: 'api_error',
    admin: 'AB04',
    text: 'More is asked at once than this process does at once.',
  },
  'gateway.bundle_unavailable': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'The settings of the workspace are not known here yet and the control plane cannot be asked.',
  },
  'gateway.ledger_full': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'Usage records cannot be stored at the moment.',
  },
  'gateway.attempts_spent': {
    status: 503,
    retry: 'never',
    type: 'api_error',
    text: 'The request has tried as much as one request may.',
  },
  'gateway.lost': {
    status: 500,
    retry: 'never',
    type: 'api_error',
    text: 'The gateway stopped during the attempt.',
  },
  internal: {
    status: 500,
    retry: 'never',
    type: 'api_error',
    admin: 'AB04',
    text: 'Something went wrong on our side.',
  },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof errorCodes;

/** The table's row for a code, with the optional columns visible to the type system. */
export function errorSpec(code: ErrorCode): ErrorSpec {
  return errorCodes[code];
}
