import { create, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { Openers } from '../build-bundle.ts';
import {
  type BundleConfigRow,
  type ConfigBody,
  readConfigBodies,
  readConfigsById,
} from '../bundle-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

const configsPerRead = 500;

export const configs: SectionSource = {
  name: 'configs',
  format: 1,
  async *items({ db, open }, heads) {
    for (let at = 0; at < heads.configs.length; at += configsPerRead) {
      const page = heads.configs.slice(at, at + configsPerRead);
      yield* bundleConfigs(page, await readConfigBodies(db, page), open.document);
    }
  },
  async itemsById({ db, open }, workspaceId, ids) {
    const rows = await readConfigsById(db, workspaceId, ids);
    return bundleConfigs(rows, await readConfigBodies(db, rows), open.document);
  },
};

/** The configs of these rows, encoded, in their order. */
export function bundleConfigs(
  rows: readonly BundleConfigRow[],
  bodies: readonly ConfigBody[],
  open: Openers['document'],
): SectionItem[] {
  const byConfig = new Map(bodies.map((body) => [body.configId, body]));
  return rows.flatMap((row) => {
    const body = byConfig.get(row.id);
    if (body === undefined) return [];
    const message = create(config.ConfigSchema, {
      id: row.id,
      slug: row.slug,
      name: row.name,
      versionId: body.versionId,
      bodyJson: open(body),
    });
    return [{ id: row.id, bytes: toBinary(config.ConfigSchema, message) }];
  });
}
