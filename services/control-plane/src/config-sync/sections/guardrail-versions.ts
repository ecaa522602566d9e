import { create, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { Openers } from '../build-bundle.ts';
import {
  type GuardrailVersionBody,
  readGuardrailVersions,
  readGuardrailVersionsById,
} from '../guardrail-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

const guardrailsPerRead = 100;

export const guardrailVersions: SectionSource = {
  name: 'guardrailVersions',
  format: 1,
  async *items({ db, open }, heads) {
    for (let at = 0; at < heads.guardrails.length; at += guardrailsPerRead) {
      const page = heads.guardrails.slice(at, at + guardrailsPerRead);
      for (const row of await readGuardrailVersions(db, page)) yield itemOf(row, open.checks);
    }
  },
  async itemsById({ db, open }, workspaceId, ids) {
    const rows = await readGuardrailVersionsById(db, workspaceId, ids);
    return rows.map((row) => itemOf(row, open.checks));
  },
};

function itemOf(row: GuardrailVersionBody, open: Openers['checks']): SectionItem {
  const message = create(config.GuardrailVersionSchema, {
    id: row.id,
    name: `${row.guardrailId}@${row.version}`,
    checksJson: open(row),
    actionsJson: JSON.stringify(row.actions),
  });
  return { id: row.id, bytes: toBinary(config.GuardrailVersionSchema, message) };
}
