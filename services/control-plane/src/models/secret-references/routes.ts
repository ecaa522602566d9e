import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { implement, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminCall, Operation } from '../../kernel/http/operation.ts';
import {
  changeSecretReference,
  createSecretReference,
  deleteSecretReference,
  detailOf,
  reachSecretReference,
} from './operations.ts';
import { presentSecretReference } from './present.ts';
import { listSecretReferences } from './store.ts';

export function secretReferenceOperations(vault: CredentialVault): readonly Operation[] {
  return [
    implement('secret-references.list', async (call, { query }) => {
      const { rows, total } = await listSecretReferences(
        call.db,
        call.caller.organisationId,
        query,
      );
      return { object: 'list', total, data: rows.map(presentSecretReference) };
    }),
    implement('secret-references.create', async (call, { body }) => {
      const { id, slug } = await createSecretReference(call, body, vault);
      return { id, slug, object: 'secret-reference' };
    }),
    implement('secret-references.read', async (call) =>
      detailOf(call.db, await reachSecretReference(call, call.db, referenceOf(call))),
    ),
    implement('secret-references.update', async (call, { body }) => {
      await changeSecretReference(call, referenceOf(call), body, vault);
      return {};
    }),
    implement('secret-references.delete', async (call) => {
      await deleteSecretReference(call, referenceOf(call));
      return {};
    }),
  ];
}

function referenceOf(call: AdminCall): string {
  return pathParameter(call, 'secretReferenceId');
}
