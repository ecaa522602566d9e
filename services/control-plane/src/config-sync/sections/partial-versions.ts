import { encodePartialVersion } from '../encode-prompts.ts';
import {
  type PartialVersionBody,
  readPartialVersions,
  readPartialVersionsById,
} from '../prompt-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

export const partialVersions: SectionSource = {
  name: 'partialVersions',
  format: 1,
  async *items({ db }, heads) {
    for await (const row of readPartialVersions(db, heads.partials)) yield itemOf(row);
  },
  async itemsById({ db }, workspaceId, ids) {
    return (await readPartialVersionsById(db, workspaceId, ids)).map(itemOf);
  },
};

function itemOf(row: PartialVersionBody): SectionItem {
  return { id: row.id, bytes: encodePartialVersion(row) };
}
