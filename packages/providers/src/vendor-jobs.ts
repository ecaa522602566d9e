/**
 * Jobs of vendors that do not follow OpenAI: fine-tunes and videos. One face for
 * callers – OpenAI's paths and documents, states in its words, times in seconds
 * – and here, for each operation, which requests a vendor wants and what its
 * answers mean. Nothing here opens a connection: `JobUse.ask` does.
 */
import type { JsonObject, ObjectFamily, ObjectOperationId } from '@sluice/contracts';
import type { CallFacts } from './call-facts.ts';
import type { FileRequest, FilesUse } from './vendor-files.ts';

export type JobFamily = Extract<ObjectFamily, 'fine-tuning jobs' | 'videos'>;

/** What a vendor has of one family; an operation that is absent it has not. */
export interface VendorJobs {
  /** Where they are asked for, without a trailing slash. Absent = where the provider is. */
  base?(facts: CallFacts): string;
  readonly operations: Partial<Readonly<Record<ObjectOperationId, JobWork>>>;
  /** What is absent above is as OpenAI has it: it passes through. */
  readonly restPasses?: true;
}

/** Families that are absent are as OpenAI has them, or not there. */
export type JobsByFamily = Partial<Readonly<Record<JobFamily, VendorJobs>>>;

/** @throws GatewayError for what cannot be asked of the vendor */
export type JobWork = (call: JobCall, use: JobUse) => Promise<JobAnswer> | JobAnswer;

/** A document for the caller; bytes; or what to ask for bytes that are passed on as they come. */
export type JobAnswer =
  | { readonly document: JsonObject }
  | { readonly bytes: Buffer; readonly contentType: string }
  | { readonly content: FileRequest };

export interface JobCall {
  /** Of the job that the request is about; empty = of none. */
  readonly id: string;
  /** As it is sent, with the model that the config chose; `{}` where there is none. */
  readonly body: JsonObject;
  readonly query: URLSearchParams;
  /** Letters, digits and hyphens that no other call has. */
  readonly name: string;
}

export interface JobUse extends Pick<FilesUse, 'facts' | 'nowMs' | 'base' | 'hasCustomHost'> {
  /** The document that the vendor answers with. @throws VendorRefusal, GatewayError */
  ask(request: JobRequest): Promise<JsonObject>;
}

export interface JobRequest {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'PUT';
  /** Behind `JobUse.base`. */
  readonly path: string;
  readonly json?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of its answer; a usual document's when absent. */
  readonly bytesMax?: number;
}
