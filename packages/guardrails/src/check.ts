import type { Judges } from '@sluice/contracts/checks';
import type { EmbeddingRule } from '@sluice/engine';
import type { JsonObject, TextSource } from '@sluice/providers';
import type { Identifiers } from './pii/identifiers.ts';

/**
 * What a check sees: a request or its response, what is known of it, and ways
 * to ask elsewhere. Never changed in place.
 */
export interface CheckContext extends TextSource {
  readonly requestId: string;
  /** The endpoint whose path it takes, also below `/v1/proxy`; absent = as `endpoint`. */
  readonly passesAs?: string | undefined;
  /** The caller's, in the spelling of this gateway. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Catalogue id of who is asked. */
  readonly provider: string;
  /** The upstream's status; 0 before the request. */
  readonly status: number;
  readonly isStream: boolean;
  /** Whatever a check waits for ends with it: its deadline has passed, or the caller left. */
  readonly signal: AbortSignal;
  /** What stands for what was taken out of this request, or of this answer; absent = nobody keeps it. */
  readonly identifiers?: Identifiers;
  /** Asks a host that a parameter of the check names. */
  readonly ask: AskHost;
  /** Absent where nobody makes vectors. */
  readonly embed?: EmbedText | undefined;
}

/**
 * A vector of length 1, made on the account of whoever asks. Without a rule by whom the operator names.
 * @throws CheckError `HostFailed` when there is none
 */
export type EmbedText = (text: string, options: EmbedOptions) => Promise<Float32Array>;

export interface EmbedOptions {
  readonly rule: EmbeddingRule | undefined;
  /** Whether the same text will be asked again, and the vector is worth keeping. */
  readonly keep: boolean;
  /** The check's own: nobody is asked any longer than it waits. */
  readonly signal: AbortSignal;
}

/**
 * One small request and its whole answer: the address past the rules for hosts,
 * redirects not followed, within the deadline of the check and a size.
 * @throws CheckError `HostFailed` when there is no answer
 */
export type AskHost = (question: HostQuestion) => Promise<HostAnswer>;

export interface HostQuestion {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'HEAD';
  /** What the check itself says, credentials among it: wins over forwarded ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: JsonObject | string;
  /** Names of the caller's headers to send on: the parameter `forwardHeaders`. */
  readonly forwardHeaders?: readonly string[] | undefined;
  /** How often it is asked again when it could not be reached, or was out of order; default: not at all. */
  readonly retriesMax?: number;
  /**
   * `caller`: the request or the answer names the address, and nobody who may trust hosts, so only public ones
   * are asked. `vendor`: no parameter does, it is the service's own. Default: whoever wrote the check.
   */
  readonly by?: 'caller' | 'vendor';
  /** Nothing is sent: `status` 0 says that the host has addresses. */
  readonly lookUpOnly?: boolean;
  /** A larger answer is none; default 1 MiB. */
  readonly bytesMax?: number;
  /** The answer is large, and held until the request is over: it counts among the bodies that all requests hold. */
  readonly isHeld?: true;
  /** The signature of AWS that is put to it, made anew for each try. */
  readonly signing?: AwsSigning;
}

export interface AwsSigning {
  readonly service: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface HostAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A kind of check, as it is called for by a config. */
export interface CheckKind {
  /** `plugin.function`. */
  readonly id: string;
  readonly judges: Judges;
  /**
   * Reads the parameters, once for each check of a config; what it returns runs for each request.
   * @throws CheckError when they are wrong
   */
  compile(parameters: unknown): CompiledCheck;
}

export interface CompiledCheck {
  readonly run: CheckFunction;
  /** Of its own; undefined = that of all checks. */
  readonly deadlineMs: number | undefined;
}

/** Looks, and decides. Throws a CheckError when there is nothing to decide on. */
export type CheckFunction = (context: CheckContext) => CheckOutcome | Promise<CheckOutcome>;

export interface CheckOutcome {
  verdict: boolean;
  /** For the caller: an explanation, the limits that applied, what was found. */
  data: JsonObject;
  /** Replaces the whole request; counts before the request only. */
  request?: JsonObject;
  /** Replaces the whole response; counts after the request only. */
  response?: JsonObject;
}

export type CheckFault =
  | 'UnknownCheck'
  | 'InvalidParameters'
  | 'InvalidPattern'
  | 'NothingToCheck'
  /** It is not made for this event, or this operation. */
  | 'NotSupported'
  | 'TextTooLong'
  /** The body cannot be read, or says different things to different readers. */
  | 'Unreadable'
  /** The checks of this request took all the time that checks have. */
  | 'TimeSpent'
  | 'HostFailed'
  /** The host is beyond the air gap: nobody looked whether it is there. */
  | 'AirGapped'
  | 'DeadlineExceeded'
  /** All checks of its guardrail together had their time. */
  | 'HookDeadlineExceeded';

/** Faults that whoever wrote the request brings about: an enforced guardrail fails by them. */
const requestFaults: ReadonlySet<string> = new Set<CheckFault>([
  'TextTooLong',
  'Unreadable',
  'TimeSpent',
]);

export function isRequestFault(name: string): boolean {
  return requestFaults.has(name);
}

/** The check could not decide. Passes, unless `failOnError` is set. Callers see name and message. */
export class CheckError extends Error {
  /** Which parameter is at fault, as a path, where one is. */
  readonly parameter: string | undefined;

  constructor(name: CheckFault, message: string, parameter?: string) {
    super(message);
    this.name = name;
    this.parameter = parameter;
  }
}
