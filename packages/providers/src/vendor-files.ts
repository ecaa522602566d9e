/**
 * Files as vendors keep them that do not follow OpenAI: a bucket, a dataset,
 * files of another shape. One face for callers – OpenAI's paths and its file
 * object – and here what it takes to be that face: which requests a vendor
 * wants, one after the other, and what their answers mean. Nothing here opens a
 * connection: `FilesUse.ask` does.
 */
import type { JsonObject } from '@sluice/contracts';
import type { AuthRecipe, CallFacts } from './call-facts.ts';

/** What a vendor has of files; absent = it has nothing like it. */
export interface VendorFiles {
  /**
   * Where its files are asked for, without a trailing slash: origin, and a path where all begin alike. Absent = where the
   * provider is.
   * @param id the file that the request is about, as `readFileId` read it
   */
  base?(facts: CallFacts, id: string | undefined): string;
  /**
   * The id that an upload is going to have, where it is known before it arrives: it may be somebody's already.
   * `name` is one that nobody else has.
   */
  claims?(facts: CallFacts, name: string): string;
  upload?(file: ArrivingFile, use: UploadUse): Promise<JsonObject>;
  retrieve?(id: string, use: FilesUse): Promise<JsonObject>;
  /** What to ask for the content of a file; its answer is passed on as it comes. */
  content?(id: string, use: FilesUse): Promise<FileRequest> | FileRequest;
  list?(query: URLSearchParams, use: FilesUse): Promise<JsonObject>;
  delete?(id: string, use: FilesUse): Promise<JsonObject>;
  /** Rows of batches are the vendor's own: lines of OpenAI's are rewritten on the way (`batches/batch-rows.ts`). */
  readonly rewritesRows?: true;
  /** What is absent above is as OpenAI has it: it passes through. */
  readonly restPasses?: true;
  /** The caller speaks the vendor's own words: bytes pass as they are. */
  isNative?(headers: Readonly<Record<string, unknown>>): boolean;
}

export type FilesOperation = 'upload' | 'retrieve' | 'content' | 'list' | 'delete';

export interface FilesUse {
  readonly facts: CallFacts;
  /** Unix ms. */
  readonly nowMs: number;
  /** As `base` said it, or the custom host in its place. */
  readonly base: string;
  /** A custom host stands in the place of the vendor's own: one address for all buckets. */
  readonly hasCustomHost: boolean;
  /**
   * The whole answer of one request, whatever its status below 400.
   * @throws VendorRefusal for any other, GatewayError where there is no answer
   */
  ask(request: FileRequest): Promise<FileAnswer>;
  /** The same for what must be done though nobody waits for it any more; never throws. */
  tidy(request: FileRequest): Promise<void>;
}

export interface UploadUse extends FilesUse {
  /** As `claims` was given it. */
  readonly name: string;
}

export interface FileRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  /** Whole. An origin other than that of `FilesUse.base` was named by the vendor: it is checked, and gets no credential. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | AsyncIterable<Buffer>;
  /** In place of the provider's. */
  readonly auth?: AuthRecipe;
}

export interface FileAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** A file on its way. */
export interface ArrivingFile {
  readonly filename: string;
  /** As its part of the form says it. */
  readonly contentType: string | undefined;
  /** What the form said before the file: `purpose` and the like. Callers may say it after it as well. */
  readonly texts: ReadonlyMap<string, string>;
  /** In rows of the vendor's, where they are rewritten. @throws GatewayError when it breaks off, or a row cannot be read */
  readonly content: AsyncIterable<Buffer>;
  /** Settles when the whole form has been read, which is after the content. */
  readonly ended: Promise<ReadonlyMap<string, string>>;
}
