import { createHash } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import type { Turns } from '../kernel/database/turns.ts';
import type { Batches } from './batches.ts';
import type { Openers } from './build-bundle.ts';
import { inPieces, progress } from './in-pieces.ts';
import { openersOf } from './openers.ts';
import { type BundleChange, type Revision, readChange } from './read-change.ts';
import { formats, sections } from './sections/index.ts';
import type { SharedChanges } from './shared-changes.ts';

type Message = MessageInitShape<typeof config.GetSectionsResponseSchema>;

export interface StreamSectionsParts {
  client: DatabaseClient;
  vault: CredentialVault;
  shared: SharedChanges;
  turns: Turns;
  /** Never older than the question. */
  current: Batches<Revision>;
}

/** What changed in a workspace since what the caller holds; empty messages while it is being read. */
export async function* streamSections(
  { client, vault, shared, turns, current }: StreamSectionsParts,
  request: config.GetSectionsRequest,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const now = await current.get(request.workspaceId.toLowerCase());
  // Whoever has given up asks again: reading for it as well would double what is too much already.
  if (signal.aborted) return;
  if (now === undefined) return yield { part: { case: 'gone', value: {} } };
  if (isCurrent(request, now)) return yield { part: { case: 'unchanged', value: {} } };
  const open = openersOf(vault);
  let steps = 0;
  const reading = shared.read(request, now, () =>
    turns.take(() =>
      readChange(client, open, request, () => {
        steps += 1;
      }),
    ),
  );
  yield* progress(reading, () => steps);
  const change = await reading;
  if (change === undefined) return yield { part: { case: 'gone', value: {} } };
  if (change.coreHash !== request.knownCoreHash)
    yield { part: { case: 'core', value: change.core } };
  for await (const message of pieces(change, { db: client, open })) {
    if (signal.aborted) return;
    yield message;
  }
  yield { part: { case: 'end', value: endOf(request.workspaceId, change) } };
}

function isCurrent(request: config.GetSectionsRequest, now: Revision): boolean {
  return (
    request.knownRevision === now.revision &&
    request.knownStamp === now.stamp &&
    Object.entries(formats).every(([name, format]) => request.knownFormats[name] === format)
  );
}

async function* pieces(
  change: BundleChange,
  parts: { db: DatabaseClient; open: Openers },
): AsyncGenerator<Message> {
  for (const section of sections) {
    const { name } = section;
    const changed = change.sections.get(section);
    if (changed !== undefined) {
      for await (const upserts of inPieces(changed.items))
        yield { part: { case: 'piece', value: { section: name, upserts } } };
      if (changed.gone.length > 0)
        yield { part: { case: 'piece', value: { section: name, gone: [...changed.gone] } } };
      continue;
    }
    yield { part: { case: 'piece', value: { section: name, startsOver: true } } };
    if (change.heads === undefined) throw new Error(`nothing was read of ${name}`);
    for await (const upserts of inPieces(section.items(parts, change.heads)))
      yield { part: { case: 'piece', value: { section: name, upserts } } };
  }
}

function endOf(workspaceId: string, { revision, stamp, coreHash }: BundleChange) {
  const state = `${workspaceId.toLowerCase()} ${revision} ${stamp}`;
  return {
    revision,
    stamp,
    coreHash,
    hash: createHash('sha256').update(state).digest('hex'),
    formats,
  };
}
