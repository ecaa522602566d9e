import type { KeptBody } from './kept-body.ts';

/** One object of the store: the content of a log. What the ledger has of it is not repeated. */
export interface StoredLog {
  readonly _id: string;
  readonly organisation_id: string;
  readonly workspace_id: string;
  readonly created_at: string;
  readonly request: {
    readonly url: string;
    readonly method: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly serviceHeaders: Readonly<Record<string, string>>;
    readonly body?: KeptBody;
  };
  readonly response: {
    readonly status: number;
    readonly responseTime: number;
    readonly lastUsedOptionJsonPath: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: KeptBody;
  };
  /** What the provider was sent, and what it sent, where these are something else. */
  readonly transformedRequest?: {
    readonly url: string;
    readonly method: string;
    readonly body?: KeptBody;
  };
  readonly originalResponse?: { readonly body?: KeptBody };
}
