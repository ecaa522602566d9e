/** What is known of a request, as far as it decides on its content. */
export interface ContentFacts {
  readonly kind: ContentKind;
  /** What the organisation, or its workspace, keeps of requests. */
  readonly mode: 'full' | 'metrics';
  /** The request's own wish is not heard. */
  readonly isEnforced: boolean;
  /** The request says `x-service-debug: false`. */
  readonly isUnwanted: boolean;
  /** Its answer is an error. */
  readonly hasFailed: boolean;
}

/** Answers of embeddings are numbers that nobody reads, and half of a large store. */
export type ContentKind = 'model-call' | 'embedding' | 'tool-call';

/** Who asks for a log. */
export interface LogReader {
  readonly organisationId: string;
  /** Undefined = of every workspace. */
  readonly workspaceId: string | undefined;
  readonly keyId: string;
  readonly userId: string | undefined;
  /** As the key's user may use them: roles and the switches for them are in these. */
  readonly scopes: ReadonlySet<string>;
  /** Data visibility: only what keys of the reader's own user did. */
  readonly seesOwnDataOnly: boolean;
}

/** Whose a log is. */
export interface LogOwner {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string;
  /** Empty where nobody's own key did it. */
  readonly userId: string;
}

/** What may be kept, or shown, of a request. */
export interface VisibleContent {
  /** That it happened: status, tokens, cost, times, metadata. */
  readonly log: boolean;
  /** The caller's body, and the headers of both sides. */
  readonly request: boolean;
  readonly response: boolean;
  /** What went to the provider and came from it, where that is something else. */
  readonly provider: boolean;
  /** Why not all of it is. */
  readonly hidden: HiddenBecause | undefined;
}

/**
 * `metrics-only`: the setting says so. `debug-off`: the request said so.
 * `embedding`: such answers are not kept. `no-scope`: the key may not look into
 * requests. `not-yours`: nor know of this one.
 */
export type HiddenBecause = 'metrics-only' | 'debug-off' | 'embedding' | 'no-scope' | 'not-yours';

/**
 * What of a request may be kept (without `who`), and what of what is kept a
 * reader may see. Settings that decide on keeping are not retroactive: for
 * readers the mode is the one that held then, `full` for whatever was kept.
 */
export function visibleContent(
  facts: ContentFacts,
  who?: { readonly reader: LogReader; readonly owner: LogOwner },
): VisibleContent {
  if (who !== undefined) {
    if (!isWithin(who.owner, reachOf(who.reader))) return nothing('not-yours', false);
    if (!seesContent(who.reader)) return nothing('no-scope');
  }
  if (facts.isUnwanted && !facts.isEnforced) return nothing('debug-off');
  if (facts.mode === 'metrics') {
    // What a tool said of its own failure is the only trace of it.
    const keepsFault = facts.kind === 'tool-call' && facts.hasFailed;
    return { ...nothing('metrics-only'), response: keepsFault };
  }
  if (facts.kind === 'embedding' && !facts.hasFailed)
    return { log: true, request: true, response: false, provider: false, hidden: 'embedding' };
  return all;
}

/** Of the logs of an organisation, those that a reader may know of. */
export interface LogReach {
  readonly organisationId: string;
  /** Empty = of every workspace. */
  readonly workspaceIds: string[];
  readonly userId: string | undefined;
  /** Set where a key may only see what it did itself. */
  readonly apiKeyId: string | undefined;
}

/**
 * A key that calls models knows of its own requests, whatever its scopes; those of
 * others take a scope of logs. Data visibility narrows both to the key's user.
 */
export function reachOf(reader: LogReader): LogReach {
  const { organisationId, workspaceId, keyId, userId, scopes, seesOwnDataOnly } = reader;
  const knowsOthers = seesContent(reader) || scopes.has('logs.list');
  return {
    organisationId,
    workspaceIds: workspaceId === undefined ? [] : [workspaceId],
    // An empty name is nobody's: a person that cannot be told sees nothing, not all.
    userId: seesOwnDataOnly ? (userId ?? '') : undefined,
    apiKeyId: knowsOthers ? undefined : keyId,
  };
}

function isWithin(owner: LogOwner, reach: LogReach): boolean {
  if (owner.organisationId !== reach.organisationId) return false;
  if (reach.workspaceIds.length > 0 && !reach.workspaceIds.includes(owner.workspaceId))
    return false;
  // As above: nobody's rows are not those of somebody who cannot be told.
  if (reach.userId !== undefined && (reach.userId === '' || owner.userId !== reach.userId))
    return false;
  return reach.apiKeyId === undefined || owner.apiKeyId === reach.apiKeyId;
}

/** To list logs is to see that requests happened; to look into them is more. */
function seesContent({ scopes }: LogReader): boolean {
  return scopes.has('logs.view') || scopes.has('logs.read');
}

/** As the ledger names endpoints. */
export function kindOfEndpoint(endpoint: string): ContentKind {
  if (/^(?:mcp|agent):/.test(endpoint)) return 'tool-call';
  return endpoint === 'embed' ? 'embedding' : 'model-call';
}

const all: VisibleContent = {
  log: true,
  request: true,
  response: true,
  provider: true,
  hidden: undefined,
};

function nothing(hidden: HiddenBecause, log = true): VisibleContent {
  return { log, request: false, response: false, provider: false, hidden };
}
