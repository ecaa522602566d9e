/**
 * What one operation of the data plane consists of: everything that differs
 * between endpoints by value. Nothing here loads anything.
 */
export type Operation =
  | ModelOperation
  | ObjectOperation
  | PromptOperation
  | ExplainOperation
  | ToolOperation
  | AgentOperation;

/** What holds of every operation, whatever it is about. */
interface AnyOperation {
  /** Method and path, `:name` for a segment that varies, `*` for all that follow. */
  readonly at: Address;
  readonly body: BodyKind;
  /** In whose words a refusal is told: those that the operation's own clients read. What passes through is told by its path (`errorsOf`). */
  readonly errors: ErrorShape;
  /** Any of these lets a key in. */
  readonly scopes: readonly string[];
  /** What limits and budgets count. */
  readonly spends: 'nothing' | 'request';
  /** Whether a caller who got no answer may simply ask again. */
  readonly repeat: Repeat;
}

/** Asks a model, by way of a provider: what this project calls an endpoint. */
export interface ModelOperation extends AnyOperation {
  readonly about: 'model';
  /** What callers speak here; upstreams may speak another. */
  readonly format: string;
  readonly reply: ReplyKind;
  /** Which hooks of a target see what is asked, and what is answered. */
  readonly hooks: { readonly input: HookKinds; readonly output: HookKinds };
  /**
   * What a kept answer serves: `body` the same request alone, `stream` also one
   * that wants it told as a stream, or that was asked for as a stream.
   */
  readonly cache: 'none' | 'body' | 'stream';
  /** Where the name of the model stands. `address` = wherever the vendor's own paths put it. */
  readonly names: { readonly model: 'nowhere' | 'body.model' | 'address' };
  /**
   * What of a call is charged, and estimated where its provider does not say: the
   * tokens of what is asked and answered, of what is asked alone, or other units.
   */
  readonly uses: 'text' | 'input' | 'units' | 'nothing';
  /** What stays at the provider, and what of it the request names. */
  readonly objects?: ObjectFacts;
}

/**
 * Asks for something that stays at a provider: passed through to it, bytes as
 * they are, by what is known of its path, its body and its reply.
 */
export interface ObjectOperation
  extends Omit<ModelOperation, 'about' | 'body' | 'format' | 'reply' | 'cache' | 'names'> {
  readonly about: 'object';
  readonly body: 'raw';
  readonly format: 'raw';
  readonly reply: 'any';
  readonly cache: 'none';
  readonly names: { readonly model: 'address' };
  /** What it is sent: JSON, or a form or the same as JSON, which are read before they are passed on; anything, unread; nothing. */
  readonly takes: 'json' | 'form' | 'anything' | 'nothing';
  /** Which of a provider's keepings it belongs to; undefined = nobody says who has it. */
  readonly of?: ObjectFamily;
  readonly objects: ObjectFacts;
  /** Work that goes on after its answer and is billed when it is seen to have ended: the object's kind. */
  readonly bills?: BilledKind;
}

/** Work that goes on after its answer, and is billed when it is seen to have ended. */
export type BilledKind = 'response' | 'run' | 'video' | 'fine-tuning job';

/** What providers keep, each with or without the others. */
export type ObjectFamily =
  | 'responses'
  | 'conversations'
  | 'stored completions'
  | 'vector stores'
  | 'assistants'
  | 'batches'
  | 'realtime calls'
  | 'files'
  | 'message batches'
  | 'uploads'
  | 'fine-tuning jobs'
  | 'videos'
  | 'containers'
  | 'skills'
  | 'voices';

export type ObjectKind =
  | 'agent'
  | 'agent session'
  | 'assistant'
  | 'automation'
  | 'batch'
  | 'cached content'
  | 'call'
  | 'character'
  | 'completion'
  | 'container'
  | 'conversation'
  | 'dream'
  | 'environment'
  | 'environment template'
  | 'file'
  | 'file search store'
  | 'fine-tuning job'
  | 'fine-tuned model'
  | 'interaction'
  | 'library'
  | 'memory store'
  | 'message'
  | 'response'
  | 'run'
  | 'skill'
  | 'thread'
  | 'tunnel'
  | 'upload'
  | 'user profile'
  | 'vault'
  | 'vault credential'
  | 'vector store'
  | 'video'
  | 'voice'
  | 'voice consent';

export interface ObjectFacts {
  /**
   * Where the body says whether anything is kept; absent = it is. By its `store`, or, `when-held`, as it has a thread, a
   * container or code to run.
   */
  readonly stored?: 'unless-declined' | 'when-asked' | 'when-held';
  /** What a reply says was made, or is of the same owner. */
  readonly makes?: readonly MadeObject[];
  /** What a request names: it goes to the one who has that. */
  readonly names?: readonly NamedObject[];
  /** Its body may go to the provider unread: what it names is looked at while it passes. */
  readonly mayFlow?: true;
  /** What a reply lists, whoever made it: it can be narrowed to the caller's workspace. */
  readonly lists?: ObjectKind;
}

export interface MadeObject {
  readonly kind: ObjectKind;
  /** Where its id stands in the reply, and in the document that an event of a stream tells; members by dots, `*` for each item of a list. */
  readonly id: string;
  /** The `object` of that document, or Anthropic's `type`, so that an id of something else is not taken for it; undefined = it has none. */
  readonly object: string | undefined;
  /** Work that goes on at the provider: how it is looked at until it has ended, whoever else looks. */
  readonly follow?: FollowedWork;
}

/** Of one kind of object, the same wherever it is made. */
export interface FollowedWork {
  /** The setting of the data service that says how often it is looked at. */
  readonly every: FollowInterval;
  /** The address that tells its state: the last name stands for its id, any other is a member of its document. */
  readonly look: `GET /v1/${string}`;
  /** What its document's `status` says when it has ended. */
  readonly ended: readonly string[];
  /** What is behind that address once it has ended, and is read to its end then: reading it is what is billed. */
  readonly reads?: '/output';
  /** Followed only where this member of its document is true. */
  readonly only?: string;
}

/** Responses, runs and videos; batches; fine-tuning jobs. */
export type FollowInterval =
  | 'RESPONSE_STATUS_CHECK_INTERVAL'
  | 'BATCH_STATUS_CHECK_INTERVAL'
  | 'FINETUNE_STATUS_CHECK_INTERVAL';

export interface NamedObject {
  readonly kind: ObjectKind;
  /**
   * `path.<name>` of the address, `query.<name>`, or `body.<members>`, where `*` stands for each item of a list, or each member of an object. A form spells it with brackets.
   * `**` is any text of a row.
   */
  readonly at: `path.${string}` | `query.${string}` | `body.${string}` | '**';
  /** It is an address, which names an object where it is one in a bucket (`s3://`, `gs://`). It says nothing of who is asked. */
  readonly isAddress?: true;
  /** The vendor has some that are everybody's: one that nobody here knows says nothing of who is asked. */
  readonly mayBeCommon?: true;
  /** It is a file of rows that a job works through: requests, or examples to learn from. Rows may name objects themselves. */
  readonly rows?: 'requests' | 'examples';
}

/** Names a saved prompt, and becomes the request that the prompt's template makes. */
export interface PromptOperation extends AnyOperation {
  readonly about: 'prompt';
}

/** Tells what would become of a request for a model, and asks nobody. */
export interface ExplainOperation extends AnyOperation {
  readonly about: 'decision';
}

/** Messages to and from an MCP server, whose address has its slug, and may have its workspace's before it. */
export interface ToolOperation extends AnyOperation {
  readonly about: 'tool';
}

/** Whatever is sent to an agent, at its own address and below it. */
export interface AgentOperation extends AnyOperation {
  readonly about: 'agent';
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
export type Address = `${Method | 'ANY'} /${string}`;

/**
 * `form` = multipart, or the same fields as JSON. `raw` = anything, passed
 * through untouched: no field of it is set, translated or kept.
 */
export type BodyKind = 'json' | 'form' | 'none' | 'raw';

/**
 * `events` = a body, or events when the request wants a stream. `sound` = bytes, heard while they are made.
 * `session` = frames of a WebSocket, both ways.
 */
export type ReplyKind = 'body' | 'events' | 'sound' | 'session' | 'any';

export type ErrorShape = 'openai' | 'anthropic' | 'google' | 'bedrock';

/** `safe` = only reads. `idempotent` = twice leaves what once leaves. `fresh` = each request is work of its own. */
export type Repeat = 'safe' | 'idempotent' | 'fresh';

/** `guardrails` = those that judge, without those that change. `type` = only which operation it is can be judged. */
export type HookKinds = 'all' | 'guardrails' | 'type' | 'none';
