import type { VendorFault } from '@sluice/contracts';
import { type ErrorCode, errorSpec } from './codes.ts';
import type { FailureCause } from './failure-cause.ts';

export interface GatewayErrorOptions {
  /** Public sentence; default is the registry's. */
  message?: string;
  /** Path of the fault in the caller's input, e.g. `body.messages[0].role` or `x-service-config`. */
  field?: string;
  /** Every fault, as "path: what" strings, when there are several. */
  faults?: readonly string[];
  /** For operators; never leaves the process. */
  detail?: Record<string, unknown>;
  /** Overrides the registry's `error.type`: a provider's own word for its fault. */
  type?: string;
  /** A provider's own code and parameter, which its clients act on: callers are told these, and logs and ledger `code`. */
  vendor?: VendorFault | undefined;
  /** Overrides the registry's status (an upstream's own status is kept). */
  status?: number;
  /** Response headers that belong to the error, e.g. retry-after. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
  /** Why a host could not be asked; default: that of a GatewayError that caused this one. */
  failureCause?: FailureCause | undefined;
}

/** The one error class. `code` is for programs, `message` for callers, `detail` and `cause` for operators. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly field: string | undefined;
  readonly vendor: VendorFault | undefined;
  readonly faults: readonly string[] | undefined;
  readonly detail: Record<string, unknown> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly failureCause: FailureCause | undefined;

  constructor(code: ErrorCode, options: GatewayErrorOptions = {}) {
    const spec = errorSpec(code);
    super(options.message ?? spec.text, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status ?? spec.status;
    this.type = options.type ?? spec.type;
    this.field = options.field;
    this.vendor = options.vendor;
    this.faults = options.faults;
    this.detail = options.detail;
    this.headers = options.headers;
    const { cause } = options;
    this.failureCause =
      options.failureCause ?? (cause instanceof GatewayError ? cause.failureCause : undefined);
  }
}

/** Turns anything caught into a GatewayError; used only where errors are caught for good. */
export function fromUnknown(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('internal', { cause: error });
}
