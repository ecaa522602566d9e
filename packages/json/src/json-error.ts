/** Why a document is not read. */
export type JsonFault = 'malformed' | 'too-large' | 'too-deep' | 'too-many-values';

/** A document that is not JSON, or over its bounds. The message is fit for whoever sent it, and begins in lower case. */
export class JsonError extends Error {
  readonly fault: JsonFault;

  constructor(fault: JsonFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JsonError';
    this.fault = fault;
  }
}
