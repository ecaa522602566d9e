import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Script } from './scripted-model.ts';

export type JsonObject = Record<string, unknown>;

/** A request whose body is an object that names a model; the endpoint checks the rest. */
export type DemoBody = JsonObject & { model: string };

export interface DemoContext {
  script: Script;
  /** Length of the body, from which ids are made. */
  bytes: number;
  headers: IncomingHttpHeaders;
}

type HeaderValues = Readonly<Record<string, string>>;

export type DemoAnswer =
  | { kind: 'json'; body: unknown; headers?: HeaderValues }
  | { kind: 'bytes'; contentType: string; pieces: readonly Buffer[]; headers?: HeaderValues }
  /** Each event is framed already. */
  | {
      kind: 'sse';
      events: Iterable<string> | AsyncIterable<string>;
      eventDelayMs: number;
      headers?: HeaderValues;
    };

/** One path: a pure function from a parsed request to an answer. */
export type DemoEndpoint = (body: DemoBody, context: DemoContext) => DemoAnswer;

/** A refusal, in no vendor's words yet. */
export class VendorFault extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;
  readonly type: string | undefined;
  readonly headers: HeaderValues;

  constructor(
    status: number,
    message: string,
    detail: { param?: string; code?: string; type?: string; headers?: HeaderValues } = {},
  ) {
    super(message);
    this.status = status;
    this.param = detail.param ?? null;
    this.code = detail.code ?? null;
    this.type = detail.type;
    this.headers = detail.headers ?? {};
  }
}

/** How a vendor refuses. */
export interface Vendor {
  /** Parses and checks what all endpoints of the vendor have in common. */
  parseBody(text: string, request?: IncomingMessage): DemoBody;
  /** The fault that a `demo-error-<status>` model asks for. */
  scriptedFault(status: number): VendorFault;
  errorBody(fault: VendorFault): unknown;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
