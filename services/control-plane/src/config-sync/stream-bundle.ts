import type { MessageInitShape } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { buildBundle } from './build-bundle.ts';
import { readBundleRows } from './bundle-rows.ts';
import { inPieces, progress } from './in-pieces.ts';
import { openersOf } from './openers.ts';
import { sections } from './sections/index.ts';

type Piece = MessageInitShape<typeof config.GetBundleResponseSchema>;

/** The bundle of a workspace for gateways of the release before: whole, in pieces; empty messages while it is being read. */
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
  const open = openersOf(parts.vault);
  const bundle = buildBundle(rows, open);
  if (bundle.hash === request.knownHash) return yield { unchanged: true };
  yield { bundle };
  for (const { name, items } of sections.filter(isKnownBefore))
    for await (const piece of inPieces(items({ db: parts.client, open }, rows))) {
      if (signal.aborted) return;
      yield { [name]: piece };
    }
}

/** What is there since sections are, nobody is sent who does not ask for them. */
function isKnownBefore({ name }: { name: string }): boolean {
  return Object.hasOwn(config.GetBundleResponseSchema.field, name);
}
