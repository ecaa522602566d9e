import { hashServiceKey } from '@sluice/contracts';
import { config } from '@sluice/proto-stubs';
import { eventually } from '@sluice/testkit';
import type { Harness } from './harness.ts';

const { resolveKey, getBundle, watch } = config.ConfigService.method;
const timeoutMs = 5_000;

/** A key as gateways know it; nothing for one that is gone. */
export async function resolved(h: Harness, key: string): Promise<config.Key | undefined> {
  const keyHash = hashServiceKey(key, h.env.KEY_PEPPER);
  return (await h.rpc.unary(resolveKey, { keyHash }, { timeoutMs })).key;
}

/** The bundle of a workspace, without its configs. */
export async function bundleOf(h: Harness, workspaceId: string) {
  const stream = h.rpc.serverStream(getBundle, { workspaceId, knownHash: '' });
  let bundle: config.Bundle | undefined;
  for await (const piece of stream as AsyncIterable<config.GetBundleResponse>)
    bundle ??= piece.bundle;
  return bundle;
}

/** What gateways are told from now on; each change must be heard within a second. */
export async function listen(h: Harness) {
  const heard: string[] = [];
  const stream = h.rpc.serverStream(watch, { replicaId: 'test' });
  stream.on('error', () => {});
  stream.on('data', ({ event }: config.WatchResponse) => {
    if (event.case === 'keyChanged') heard.push(event.value.keyId);
    else if (event.case === 'workspaceChanged') heard.push(event.value.workspaceId);
    else if (event.case === 'ready') heard.push('ready');
  });
  const hears = (id: string) =>
    eventually(() => heard.includes(id), { timeoutMs: 1000, intervalMs: 5 });
  await hears('ready');
  return { heard, hears, stop: () => stream.cancel() };
}
