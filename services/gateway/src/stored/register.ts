import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { KeptKind } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { jobs } from '@sluice/proto-stubs';
import { type DuplexStream, type RpcClient, toldError } from '@sluice/rpc';

const callMs = 10_000;

type Unary<I extends DescMessage, O extends DescMessage> = DescMethod & {
  methodKind: 'unary';
  input: I;
  output: O;
};

/** Of a content, in bytes. */
export interface ContentPart {
  readonly offset: bigint;
  readonly length: bigint;
}

/** What is kept for callers: known at the control plane, its contents at the data service. */
export class StoredRegister {
  readonly #controlPlane: RpcClient;
  readonly #dataService: RpcClient;

  constructor(controlPlane: RpcClient, dataService: RpcClient) {
    this.#controlPlane = controlPlane;
    this.#dataService = dataService;
  }

  readonly files = jobs.FileService.method;
  readonly uploads = jobs.UploadService.method;
  readonly contents = jobs.ContentService.method;
  readonly batches = jobs.BatchService.method;

  /** @throws GatewayError as the control plane says it; `file.unavailable` when it is not there */
  async ask<I extends DescMessage, O extends DescMessage>(
    method: Unary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>> {
    try {
      return await this.#controlPlane.unary(method, request, { timeoutMs: callMs, failFast: true });
    } catch (error) {
      throw faultOf(error);
    }
  }

  /** Of the data service. @throws GatewayError as it says it */
  async askContents<I extends DescMessage, O extends DescMessage>(
    method: Unary<I, O>,
    request: MessageInitShape<I>,
    timeoutMs = callMs,
  ): Promise<MessageShape<O>> {
    try {
      return await this.#dataService.unary(method, request, { timeoutMs, failFast: true });
    } catch (error) {
      throw faultOf(error);
    }
  }

  upload(options?: {
    failFast: boolean;
  }): DuplexStream<MessageInitShape<typeof jobs.UploadRequestSchema>, jobs.UploadResponse> {
    return this.#dataService.duplexStream(jobs.ContentService.method.upload, options);
  }

  /** @param kind  empty = a file */
  read(workspaceId: string, id: string, kind: '' | KeptKind = '', part?: ContentPart) {
    const asked = { workspaceId, id, kind, ...part };
    const options = { failFast: kind !== '' };
    return this.#dataService.serverStream(jobs.ContentService.method.readFile, asked, options);
  }

  /** The events of a response in the background, as long as it is made. */
  events(workspaceId: string, id: string) {
    const asked = { workspaceId, id };
    const options = { failFast: true };
    return this.#dataService.serverStream(jobs.ContentService.method.readEvents, asked, options);
  }

  readonly faultOf = faultOf;

  /** The content of a file, no faster than it is taken. @throws GatewayError as the data service says it */
  async *content(workspaceId: string, id: string): AsyncGenerator<Buffer, void> {
    const stream = this.read(workspaceId, id);
    const waiting: Buffer[] = [];
    let ended = false;
    let failure: GatewayError | undefined;
    let wake = () => {};
    stream.on('data', ({ part }: jobs.ReadFileResponse) => {
      if (part.case !== 'piece') return;
      waiting.push(Buffer.from(part.value));
      stream.pause();
      wake();
    });
    stream.on('end', () => {
      ended = true;
      wake();
    });
    stream.on('error', (error: unknown) => {
      failure = faultOf(error);
      wake();
    });
    try {
      for (;;) {
        const piece = waiting.shift();
        if (piece !== undefined) yield piece;
        else if (failure !== undefined) throw failure;
        else if (ended) return;
        else {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          stream.resume();
          await promise;
        }
      }
    } finally {
      stream.cancel();
    }
  }

  close(): void {
    this.#dataService.close();
  }
}

export function faultOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return (
    toldError(error) ??
    new GatewayError('file.unavailable', { cause: error, headers: { 'retry-after': '2' } })
  );
}
