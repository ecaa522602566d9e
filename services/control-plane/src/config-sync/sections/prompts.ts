import { encodePrompt } from '../encode-prompts.ts';
import { type PromptHead, readPromptsById } from '../prompt-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

export const prompts: SectionSource = {
  name: 'prompts',
  format: 1,
  async *items(_parts, heads) {
    for (const row of heads.prompts) yield itemOf(row);
  },
  async itemsById({ db }, workspaceId, ids) {
    return (await readPromptsById(db, workspaceId, ids)).map(itemOf);
  },
};

function itemOf(row: PromptHead): SectionItem {
  return { id: row.id, bytes: encodePrompt(row) };
}
