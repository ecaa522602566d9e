import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import type { CredentialVault } from '../credentials/envelope.ts';
import type { DatabaseClient } from '../database/client.ts';
import { openCredentials } from '../integrations/credentials.ts';
import { buildBundle, bundleConfigs } from './build-bundle.ts';
import { type BundleRows, readBundleRows, readConfigBodies } from './bundle-rows.ts';

type Piece = MessageInitShape<typeof config.GetBundleResponseSchema>;

/** Small enough that building, sending or reading one holds up nobody; a single config may be larger. */
const pieceBytesMax = 64 * 1024;
const configsPerRead = 500;
const progressEveryMs = 500;

/** The bundle of a workspace in pieces; empty messages while it is being read. */
export async function* streamBundle(
  parts: { client: DatabaseClient; vault: CredentialVault },
  request: { workspaceId: string; knownHash: string },
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  let pagesRead = 0;
  const reading = readBundleRows(parts.client, request.workspaceId, () => {
    pagesRead += 1;
  });
  yield* progress(reading, () => pagesRead);
  const rows = await reading;
  if (rows === undefined) return yield { gone: true };
  const bundle = buildBundle(rows, (integration) => openCredentials(parts.vault, integration));
  if (bundle.hash === request.knownHash) return yield { unchanged: true };
  yield { bundle };
  for await (const configs of configPieces(parts.client, rows.configs)) {
    if (signal.aborted) return;
    yield { configs };
  }
}

/** Says that work goes on for as long as it does: a receiver takes a long silence for a hang. */
async function* progress(work: Promise<unknown>, steps: () => number): AsyncGenerator<Piece> {
  const ended = work.then(
    () => true,
    () => true,
  );
  for (let told = 0; ; ) {
    const timer = new AbortController();
    const pause = sleep(progressEveryMs, false, { signal: timer.signal }).catch(() => false);
    const isOver = await Promise.race([ended, pause]);
    timer.abort();
    if (isOver) return;
    if (steps() === told) continue;
    told = steps();
    yield {};
  }
}

async function* configPieces(
  client: DatabaseClient,
  rows: BundleRows['configs'],
): AsyncGenerator<Uint8Array[]> {
  for (let at = 0; at < rows.length; at += configsPerRead) {
    const page = rows.slice(at, at + configsPerRead);
    let piece: Uint8Array[] = [];
    let bytes = 0;
    for (const config of bundleConfigs(page, await readConfigBodies(client, page))) {
      if (piece.length > 0 && bytes + config.length > pieceBytesMax) {
        yield piece;
        piece = [];
        bytes = 0;
      }
      piece.push(config);
      bytes += config.length;
    }
    if (piece.length > 0) yield piece;
  }
}
