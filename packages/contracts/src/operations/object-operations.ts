import { assistantRows } from './assistant-rows.ts';
import { jobRows } from './job-rows.ts';
import { mediaRows } from './media-rows.ts';
import { look, named, remove } from './object-row.ts';
import type { ObjectOperation } from './operation.ts';
import { responseRows } from './response-rows.ts';
import { skillRows } from './skill-rows.ts';

/**
 * What stays at providers: stored responses and completions, conversations,
 * vector stores, assistants and threads, and the files and jobs that they name.
 * Paths and members are those of OpenAI's API reference, November 2026.
 */
export const objectRows = {
  ...responseRows,
  ...assistantRows,
  ...jobRows,
  ...mediaRows,
  ...skillRows,
  retrieveModel: {
    ...look,
    // As the list of models.
    scopes: ['completions.write', 'virtual_keys.list', 'models.list'],
    at: 'GET /v1/models/:model*',
  },
  deleteModel: {
    ...remove,
    at: 'DELETE /v1/models/:model*',
    objects: { names: named('fine-tuned model', 'path.model') },
  },
} as const satisfies Readonly<Record<string, ObjectOperation>>;
