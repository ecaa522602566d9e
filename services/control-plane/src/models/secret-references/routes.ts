import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import {
  changeSecretReference,
  createSecretReference,
  deleteSecretReference,
  detailOf,
  reachSecretReference,
} from './operations.ts';
import { presentSecretReference } from './present.ts';
import { listSecretReferences } from './store.ts';

export function secretReferenceOperations(vault: CredentialVault) {
  return implementAll('secret-references', {
    list: async (call, { query }) => {
      const { rows, total } = await listSecretReferences(
        call.db,
        call.caller.organisationId,
        query,
      );
      return { object: 'list', total, data: rows.map(presentSecretReference) };
    },
    create: async (call, { body }) => {
      const { id, slug } = await createSecretReference(call, body, vault);
      return { id, slug, object: 'secret-reference' };
    },
    read: async (call) =>
      detailOf(call.db, await reachSecretReference(call, call.db, referenceOf(call))),
    update: (call, { body }) => changeSecretReference(call, referenceOf(call), body, vault),
    delete: (call) => deleteSecretReference(call, referenceOf(call)),
  });
}

function referenceOf(call: AdminRequest): string {
  return pathParameter(call, 'secretReferenceId');
}
