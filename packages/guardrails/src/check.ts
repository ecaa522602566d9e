import type { JsonObject, TextSource } from '@sluice/providers';

/** What a check sees: a request or its response, and what is known of it. Never changed in place. */
export interface CheckContext extends TextSource {
  readonly metadata: Readonly<Record<string, string>>;
  /** Whatever a check waits for ends with it. */
  readonly signal: AbortSignal;
}

export type CheckParameters = Readonly<Record<string, unknown>>;

/**
 * A kind of check. `compile` reads the parameters, once for each check of a
 * config, and throws a CheckError when they are wrong; what it returns runs for
 * each request.
 */
export interface CheckKind {
  /** `plugin.function`. */
  readonly id: string;
  /** Further ids by which configs may name it. */
  readonly aliases?: readonly string[];
  compile(parameters: CheckParameters): CheckFunction;
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
  | 'TextTooLong'
  | 'DeadlineExceeded';

/** The check could not decide. Passes, unless `failOnError` is set. Callers see name and message. */
export class CheckError extends Error {
  constructor(name: CheckFault, message: string) {
    super(message);
    this.name = name;
  }
}
