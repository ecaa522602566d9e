import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import { openDocument } from '../documents/configs/stored-document.ts';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { openCredentials } from '../models/integrations/credentials.ts';
import { openModelSettings } from '../models/integrations/model-settings.ts';
import { buildBundle, bundleConfigs, type Openers } from './build-bundle.ts';
import {
  encodePartial,
  encodePartialVersion,
  encodePrompt,
  encodePromptVersion,
} from './bundle-prompts.ts';
import { type BundleRows, readBundleRows, readConfigBodies } from './bundle-rows.ts';
import { readPartialVersions, readPromptVersions } from './prompt-rows.ts';

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
  const open = openers(parts.vault);
  const bundle = buildBundle(rows, open);
  if (bundle.hash === request.knownHash) return yield { unchanged: true };
  yield { bundle };
  for await (const piece of contents(parts.client, rows, open)) {
    if (signal.aborted) return;
    yield piece;
  }
}

/** What there may be very many of. */
async function* contents(
  client: DatabaseClient,
  rows: BundleRows,
  open: Openers,
): AsyncGenerator<Piece> {
  const { prompts, partials } = rows;
  const configs = encodedConfigs(client, rows.configs, open.document);
  for await (const piece of inPieces(configs)) yield { configs: piece };
  for await (const piece of inPieces(prompts.map(encodePrompt))) yield { prompts: piece };
  for await (const piece of inPieces(partials.map(encodePartial))) yield { partials: piece };
  const promptVersions = encoded(readPromptVersions(client, prompts), encodePromptVersion);
  for await (const piece of inPieces(promptVersions)) yield { promptVersions: piece };
  const partialVersions = encoded(readPartialVersions(client, partials), encodePartialVersion);
  for await (const piece of inPieces(partialVersions)) yield { partialVersions: piece };
}

function openers(vault: CredentialVault): Openers {
  return {
    credentials: (integration) => openCredentials(vault, integration),
    modelSettings: (model) => openModelSettings(vault, model),
    document: ({ versionId, body, sealedBody }) =>
      openDocument(vault, { id: versionId, body, sealedBody }),
  };
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

async function* encodedConfigs(
  client: DatabaseClient,
  rows: BundleRows['configs'],
  open: Openers['document'],
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < rows.length; at += configsPerRead) {
    const page = rows.slice(at, at + configsPerRead);
    yield* bundleConfigs(page, await readConfigBodies(client, page), open);
  }
}

async function* encoded<Row>(
  rows: AsyncIterable<Row>,
  encode: (row: Row) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  for await (const row of rows) yield encode(row);
}

async function* inPieces(
  list: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array[]> {
  let piece: Uint8Array[] = [];
  let bytes = 0;
  for await (const each of list) {
    if (piece.length > 0 && bytes + each.length > pieceBytesMax) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(each);
    bytes += each.length;
  }
  if (piece.length > 0) yield piece;
}
