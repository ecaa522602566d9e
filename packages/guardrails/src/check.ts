import type { JsonObject, TextSource } from '@sluice/providers';

/** What a check sees: a request or its response, and what is known of it. Never changed in place. */
export interface CheckContext extends TextSource {
  readonly metadata: Readonly<Record<string, string>>;
  /** Whatever a check waits for ends with it. */
  readonly signal: AbortSignal;
}

/** A kind of check, as it is called for by a config. */
export interface CheckKind {
  /** `plugin.function`. */
  readonly id: string;
  /**
   * Reads the parameters, once for each check of a config; what it returns runs for each request.
   * @throws CheckError when they are wrong
   */
  compile(parameters: unknown): CheckFunction;
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
  /** Which parameter is at fault, as a path, where one is. */
  readonly parameter: string | undefined;

  constructor(name: CheckFault, message: string, parameter?: string) {
    super(message);
    this.name = name;
    this.parameter = parameter;
  }
}
