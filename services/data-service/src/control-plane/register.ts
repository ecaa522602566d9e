import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { GatewayError } from '@sluice/errors';
import { jobs } from '@sluice/proto-stubs';
import { type RpcClient, toldError } from '@sluice/rpc';

const callMs = 10_000;

/** What the control plane knows of files, batches and work at providers, asked and told. */
export class Register {
  readonly #client: RpcClient;

  constructor(client: RpcClient) {
    this.#client = client;
  }

  readonly files = jobs.FileService.method;
  readonly uploads = jobs.UploadService.method;
  readonly batches = jobs.BatchService.method;
  readonly jobs = jobs.JobService.method;
  readonly followed = jobs.FollowService.method;

  /**
   * With `failFast` a control plane that is down is not waited for, unless it only just went.
   * @throws GatewayError as the control plane says it; `file.unavailable` when it is not there
   */
  async ask<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { methodKind: 'unary'; input: I; output: O },
    request: MessageInitShape<I>,
    {
      signal,
      failFast = false,
      timeoutMs = callMs,
    }: { signal?: AbortSignal; failFast?: boolean; timeoutMs?: number } = {},
  ): Promise<MessageShape<O>> {
    try {
      const options = { timeoutMs, failFast, ...(signal && { signal }) };
      return await this.#client.unary(method, request, options);
    } catch (error) {
      throw (
        toldError(error) ??
        new GatewayError('file.unavailable', {
          cause: error,
          message: 'The control plane cannot be asked at the moment.',
        })
      );
    }
  }

  async listParts(id: string): Promise<jobs.Part[]> {
    const parts: jobs.Part[] = [];
    const stream = this.#client.serverStream(jobs.JobService.method.listParts, { id });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => stream.cancel(), 60_000);
    stream.on('data', (message: jobs.ListPartsResponse) => parts.push(...message.parts));
    stream.on('error', reject);
    stream.on('end', resolve);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
    return parts;
  }
}
