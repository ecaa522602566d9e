import type { CalledOperation, Endpoint, NamedOperation } from '@sluice/contracts';
import type { MediaRule, RequestSize } from '@sluice/engine';
import type { FormPart, JsonObject } from '@sluice/providers';
import type { CompiledAgentServer } from '../compiled/agent-servers.ts';
import type { FoundPrompt } from '../compiled/prompt-compiler.ts';
import type { AskedSession, MintedSecret } from './asked-session.ts';
import type { ServerEvent } from './event.ts';
import type { NamedObjects } from './named-objects.ts';

/**
 * What a request asks for. Entrance, limits and records read what all kinds
 * share; only the stages of a kind narrow.
 */
export type Subject = ModelCall | ToolCall | AgentCall | Session;

/** What every request asks for: an operation, at a path. */
interface Asked {
  operation: NamedOperation;
  /** Path with `/v1`, without the query. Another than the one that arrived where a request is about a request. */
  readonly pathname: string;
  /** With the question mark, or empty. */
  readonly search: string;
}

/** One call of a model, or of whatever a provider has beside its models. */
export interface ModelCall extends Asked {
  readonly kind: 'model-call';
  operation: CalledOperation;
  /** The body as received; undefined while unread or when it is streamed through. */
  body: Buffer | undefined;
  json: JsonObject | undefined;
  /** The parts of a multipart body; `json` has its text fields then. */
  form: readonly FormPart[] | undefined;
  /** How much there is to read in it, as it was measured last: for one target it may have been changed. */
  measured: { json: JsonObject; rule: MediaRule; size: RequestSize } | undefined;
  /** Its body goes to the provider as it comes, and nobody looks at it. */
  isUnread?: true;
  /** How much there was of a body that nobody has read, or could read, as far as it has come. */
  unreadBytes?: number;
  /** As the caller wrote it. */
  model: string;
  /** The model of what the request names, an assistant's or a response's, where it names none itself. */
  modelOfNamed?: string;
  /** What it names of what stays at providers, and whose that is; undefined = nothing, or nobody has looked. */
  named?: NamedObjects;
  wantsStream: boolean;
  /** What is said in the session names it, and is judged there. */
  namesModelLater?: boolean;
  /** The session that a secret or a call is asked for. */
  asked?: AskedSession;
  /** Who asks shows a secret that was made for browsers. */
  minted?: MintedSecret;
  /** What a secret is asked for with: its life, and the body as it came. */
  secret?: { readonly lifeMs: number; readonly body: JsonObject };
  /** Of a translation, whose next stretch this is. */
  heardSeconds?: number;
  /** The offer of a call over WebRTC. */
  sdp?: string;
  /** Which visit of the model this is for one request whose tools the gateway runs, from 1; undefined = it runs none. */
  toolRound?: number;
  /** Its input begins with what the service kept of earlier responses. */
  bringsKept?: boolean;
  /** The saved prompt that the request is made from; the operation is its own, once it is known. */
  prompt: FoundPrompt | undefined;
  /** The same request made from the prompts that targets of its config name, by their references; undefined = none does. */
  byPrompt?: ReadonlyMap<string, ModelCall>;
}

/** One request to an MCP server: mostly, a call of one of its tools. */
export interface ToolCall extends Asked {
  readonly kind: 'tool-call';
  /** What of it is counted and recorded, once its message is read. */
  event?: ServerEvent | undefined;
}

/** One request to an agent. */
export interface AgentCall extends Asked {
  readonly kind: 'agent-call';
  /** As of a tool call. */
  event?: ServerEvent | undefined;
  /** The slug or id of its server. */
  readonly reference: string;
  /** What follows it in the path, from its slash on, as it came. */
  readonly remainder: string;
  /** Undefined until it is found. */
  server: CompiledAgentServer | undefined;
  /** What an answer in JSON-RPC must carry; undefined = the caller does not speak it, as far as that is known. */
  rpcId: string | number | null | undefined;
  /** Its body was asked for, which can be done once. */
  isRead: boolean;
  wantsStream: boolean;
  /** Its record is a call's. */
  isBegun: boolean;
  /** What the guardrails that looked at it came to, as its caller may read it; undefined = none did. */
  hookResults?: ToldHooks;
}

/** Names and verdicts: what was found is told to nobody. */
export interface ToldHooks {
  readonly before_request_hooks: ToldHook[];
  readonly after_request_hooks: ToldHook[];
}

export interface ToldHook {
  readonly id: string;
  readonly verdict: boolean;
  readonly deny: boolean;
  readonly checks: readonly { readonly id: string; readonly verdict: boolean }[];
}

/** A connection that stays: many calls on one authentication. */
export interface Session extends Asked {
  readonly kind: 'session';
}

/** A model call of which nothing is read yet. */
export function modelCall(operation: CalledOperation, pathname: string, search: string): ModelCall {
  return {
    kind: 'model-call',
    operation,
    pathname,
    search,
    body: undefined,
    json: undefined,
    form: undefined,
    measured: undefined,
    model: '',
    wantsStream: false,
    prompt: undefined,
  };
}

/** Of the body as it came, read or not. */
export function bodyBytes({ body, unreadBytes }: ModelCall): number {
  return body?.length ?? unreadBytes ?? 0;
}

/** The endpoint whose call it is: what only passes through is none but `proxy`, whatever is known of it. */
export function endpointOf({ operation }: ModelCall): Endpoint {
  return operation.about === 'object' ? 'proxy' : operation.id;
}

/** A request to an agent of which nothing is read yet. */
export function agentCall(operation: NamedOperation, pathname: string, search: string): AgentCall {
  const [, segment = '', remainder = ''] = /^\/v1\/agent\/?([^/]*)(.*)$/.exec(pathname) ?? [];
  return {
    kind: 'agent-call',
    operation,
    pathname,
    search,
    reference: decoded(segment),
    remainder,
    server: undefined,
    rpcId: undefined,
    isRead: false,
    wantsStream: false,
    isBegun: false,
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Nobody's slug.
    return segment;
  }
}
