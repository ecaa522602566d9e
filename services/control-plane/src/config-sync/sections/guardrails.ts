import { create, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { type GuardrailHead, readGuardrails } from '../guardrail-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

export const guardrails: SectionSource = {
  name: 'guardrails',
  format: 1,
  async *items(_parts, heads) {
    for (const row of heads.guardrails) yield itemOf(row);
  },
  async itemsById({ db }, workspaceId, ids) {
    return (await readGuardrails(db, workspaceId, () => {}, ids)).map(itemOf);
  },
};

function itemOf({ id, slug, version }: GuardrailHead): SectionItem {
  const message = create(config.GuardrailSchema, { id, slug, version });
  return { id, bytes: toBinary(config.GuardrailSchema, message) };
}
