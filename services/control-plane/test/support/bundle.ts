import { fromBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { Harness } from './harness.ts';

const { getBundle } = config.ConfigService.method;

/** What a gateway gets of a workspace, its pieces put together. */
export async function readBundle(h: Harness, workspaceId: string, knownHash = '') {
  const answer = {
    bundle: undefined as config.Bundle | undefined,
    configs: [] as config.Config[],
    gone: false,
    unchanged: false,
  };
  const stream = h.rpc.serverStream(getBundle, { workspaceId, knownHash });
  for await (const piece of stream as AsyncIterable<config.GetBundleResponse>) {
    answer.gone ||= piece.gone;
    answer.unchanged ||= piece.unchanged;
    answer.bundle ??= piece.bundle;
    for (const each of piece.configs) answer.configs.push(fromBinary(config.ConfigSchema, each));
  }
  return answer;
}
