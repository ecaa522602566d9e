import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@sluice/contracts';
import { parseText } from '@sluice/json';
import {
  isObject,
  McpFault,
  type McpRequest,
  MessageEdit,
  metaKeys,
  openState,
  readMessage,
  resultReply,
  rpcCodes,
  type Sealer,
  sealState,
} from '@sluice/mcp';
import type { McpCall } from './mcp-call.ts';

/** The caller is somebody who has to sign in at the server first, with a browser. */
export class SignInNeeded extends McpFault {
  /** Undefined = nobody said under which origin browsers reach this gateway. */
  readonly url: string | undefined;
  readonly serverName: string;
  readonly #call: Pick<McpCall, 'server' | 'bundle' | 'base'>;

  constructor(call: Pick<McpCall, 'server' | 'bundle' | 'base'>, idText?: string) {
    const { server, bundle, base } = call;
    const { id, name } = server.source;
    const url = base === undefined ? undefined : `${base}/oauth/upstream-auth?server=${id}`;
    super({
      status: 401,
      code: rpcCodes.refused,
      message:
        url === undefined
          ? 'You have to sign in at this MCP server, and there is no address for that: MCP_GATEWAY_BASE_URL, or PUBLIC_URL, is not set.'
          : `You have to sign in at this MCP server with a browser, then ask again: ${url}`,
      data: {
        type: 'oauth_required',
        authorizationUrl: url ?? null,
        serverId: id,
        workspaceId: bundle.source.workspaceId,
      },
      ...(idText !== undefined && { idText }),
    });
    this.#call = call;
    this.url = url;
    this.serverName = name;
  }

  /** The same, as an answer to this request. */
  of({ idText }: McpRequest): SignInNeeded {
    return this.idText === undefined ? new SignInNeeded(this.#call, idText) : this;
  }
}

/** Those in whose answers a server may ask something (2026-07-28). */
const mayAsk = new Set(['tools/call', 'prompts/get', 'resources/read']);
/** The question's name in such an answer. */
const question = 'sign_in';
const stateMs = 15 * 60_000;
/** Since when clients may be sent to an address (URL elicitation). */
const urlSince = '2025-11-25';

/** To a client of the older era that may be sent to an address: where to; else the fault as it is. @param client what it said of itself */
export function tellLegacy(fault: SignInNeeded, client: JsonObject | undefined): McpFault {
  const { url, idText } = fault;
  const version = client?.protocolVersion;
  const takesUrls =
    typeof version === 'string' && version >= urlSince && elicitsUrls(client?.capabilities);
  if (url === undefined || idText === undefined || !takesUrls) return fault;
  return new McpFault({
    status: 200,
    code: rpcCodes.urlElicitationRequired,
    message: fault.message,
    data: { elicitations: [elicitation(fault, url)] },
    idText,
  });
}

/** As a session has it. */
export function clientOf(text: string): JsonObject {
  return parseText(text) as JsonObject;
}

/** To one of 2026-07-28: an answer that asks. @throws the fault where it cannot be asked */
export function tellModern(
  fault: SignInNeeded,
  call: McpCall,
  asked: McpRequest,
  sealer: Sealer,
): void {
  const { url } = fault;
  const capabilities = asked.meta?.[metaKeys.clientCapabilities];
  if (url === undefined || !mayAsk.has(asked.method) || !elicitsUrls(capabilities))
    throw fault.of(asked);
  const until = Date.now() + stateMs;
  call.reply.body(
    200,
    resultReply(asked.idText, {
      resultType: 'input_required',
      inputRequests: {
        [question]: { method: 'elicitation/create', params: elicitation(fault, url) },
      },
      requestState: sealState(sealer, ownerOf(call, asked), { signIn: true }, until),
    }),
  );
}

/** A request that comes back from a sign-in, as the server shall see it: it knows nothing of that. @throws SignInNeeded where the user declined */
export function withoutSignIn(call: McpCall, asked: McpRequest, sealer: Sealer): McpRequest {
  const { requestState: sent, inputResponses } = asked.params ?? {};
  if (typeof sent !== 'string' || !mayAsk.has(asked.method)) return asked;
  const state = openState(sealer, ownerOf(call, asked), sent, Date.now());
  if (!isObject(state) || state.signIn !== true) return asked;
  const said = isObject(inputResponses) ? inputResponses[question] : undefined;
  const action = isObject(said) ? said.action : undefined;
  if (action === 'decline' || action === 'cancel') {
    const { code, message, data } = new SignInNeeded(call);
    throw new McpFault({ status: 401, code, message, data, idText: asked.idText });
  }
  const edit = new MessageEdit(asked).setParam('requestState', undefined);
  if (inputResponses !== undefined) edit.setParam('inputResponses', undefined);
  return readMessage(edit.bytes()) as McpRequest;
}

function elicitation({ serverName }: SignInNeeded, url: string): JsonObject {
  return {
    mode: 'url',
    elicitationId: randomUUID(),
    url,
    message: `Sign in at the MCP server ${serverName}, then ask again.`,
  };
}

function elicitsUrls(capabilities: unknown): boolean {
  return (
    isObject(capabilities as JsonObject) &&
    isObject((capabilities as JsonObject).elicitation) &&
    isObject(((capabilities as JsonObject).elicitation as JsonObject).url)
  );
}

function ownerOf(call: McpCall, { method, params }: McpRequest) {
  return { principal: call.principal, server: call.server.source.id, method, params };
}
