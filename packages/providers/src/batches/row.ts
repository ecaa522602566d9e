import type { Endpoint, JsonObject, JsonValue, NamedObject } from '@sluice/contracts';
import type { CallContext, Translation } from '../contract.ts';

/** A line of an OpenAI batch, read. */
export interface BatchLine {
  readonly customId: string;
  /** What its `url` names. */
  readonly endpoint: RowEndpoint;
  /** Never asks for a stream. */
  readonly body: JsonObject;
}

/** What lines may ask for: one JSON question, one answer. */
export type RowEndpoint = Extract<
  Endpoint,
  'chatComplete' | 'complete' | 'embed' | 'createModelResponse' | 'messages'
>;

/** What a vendor says of one line. */
export interface VendorResult {
  readonly customId: string;
  /** The reply as the vendor's own endpoint gives it; undefined = there is none, `error` says why. */
  readonly reply: JsonValue | undefined;
  /** Of the reply; above 299 it is the vendor's error. */
  readonly status: number;
  readonly requestId: string;
  /** Why the line was never answered. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** The request as the vendor had it, where the row repeats it. */
  readonly asked?: JsonObject;
  /** The model, where the reply does not name it. */
  readonly model?: string;
}

/** How rows of a provider's batches look, both ways. Pure. */
export interface RowDialect {
  /** What its rows can ask for. */
  readonly endpoints: readonly RowEndpoint[];
  /** Where its rows name what stays there; absent = where OpenAI's do. */
  readonly names?: readonly NamedObject[];
  /** What does the line's body and its reply. */
  translation(endpoint: RowEndpoint, context: CallContext): Translation;
  /** `body` is in the vendor's words. @throws GatewayError for a line that no row can say */
  write(line: BatchLine, body: JsonObject, context: CallContext): JsonObject;
  /** Undefined = no row of results. */
  read(row: JsonObject): VendorResult | undefined;
  /** What a reply answers, where nobody remembers what was asked. */
  endpointOf(reply: JsonObject): RowEndpoint;
}
