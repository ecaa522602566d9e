import { encodePromptVersion } from '../encode-prompts.ts';
import {
  type PromptVersionBody,
  readPromptVersions,
  readPromptVersionsById,
} from '../prompt-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

export const promptVersions: SectionSource = {
  name: 'promptVersions',
  format: 1,
  async *items({ db }, heads) {
    for await (const row of readPromptVersions(db, heads.prompts)) yield itemOf(row);
  },
  async itemsById({ db }, workspaceId, ids) {
    return (await readPromptVersionsById(db, workspaceId, ids)).map(itemOf);
  },
};

function itemOf(row: PromptVersionBody): SectionItem {
  return { id: row.id, bytes: encodePromptVersion(row) };
}
