import { encodePartial } from '../encode-prompts.ts';
import { type PartialHead, readPartialsById } from '../prompt-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

export const partials: SectionSource = {
  name: 'partials',
  format: 1,
  async *items(_parts, heads) {
    for (const row of heads.partials) yield itemOf(row);
  },
  async itemsById({ db }, workspaceId, ids) {
    return (await readPartialsById(db, workspaceId, ids)).map(itemOf);
  },
};

function itemOf(row: PartialHead): SectionItem {
  return { id: row.id, bytes: encodePartial(row) };
}
