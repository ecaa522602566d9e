import type { ObjectFamily } from '@sluice/contracts';
import type { Keepings, ProviderEntry } from '../contract.ts';
import { vendorJobsAt } from '../jobs/job-documents.ts';
import type { FilesOperation } from '../vendor-files.ts';

/** What OpenAI keeps; assistants, threads and vector stores are asked for by a beta's header. */
export const openAiKeeps: Keepings = {
  responses: {},
  conversations: {},
  'stored completions': {},
  'vector stores': { headers: { 'openai-beta': 'assistants=v2' } },
  assistants: { headers: { 'openai-beta': 'assistants=v2' } },
  'realtime calls': {},
  batches: {},
  files: {},
  uploads: {},
  'fine-tuning jobs': {},
  videos: {},
  containers: {},
  skills: {},
  voices: {},
};

/** The same where no header is asked for. */
export const openAiKeepsPlainly: Keepings = {
  responses: {},
  conversations: {},
  'stored completions': {},
  'vector stores': {},
  assistants: {},
  'realtime calls': {},
  batches: {},
  files: {},
  uploads: {},
  'fine-tuning jobs': {},
  videos: {},
  containers: {},
  skills: {},
};

/** Files at OpenAI's paths, and nothing else of its. */
export const keepsFiles: Keepings = { files: {} };

/** The same, and batches over them. */
export const keepsFilesAndBatches: Keepings = { files: {}, batches: {} };

/** Fine-tunes, and videos, in words of the vendor's own. */
export const keepsTuning: Keepings = { 'fine-tuning jobs': {} };
export const keepsVideos: Keepings = { videos: {} };

type Keeper = Pick<ProviderEntry, 'id' | 'keeps' | 'files' | 'jobs'>;

/** The ids of those that keep something of the family, and do this with it, in the catalogue's order. */
export function keepersOf(
  family: ObjectFamily,
  operation: string,
  providers: readonly Keeper[],
): string[] {
  return providers.flatMap((provider) =>
    provider.keeps?.[family] !== undefined && hasOperation(provider, family, operation)
      ? [provider.id]
      : [],
  );
}

/** Whether a provider that keeps the family has the operation: not all that have files can list them. */
export function hasOperation(
  { files, jobs }: Pick<Keeper, 'files' | 'jobs'>,
  family: ObjectFamily,
  operation: string,
): boolean {
  const own = vendorJobsAt({ jobs }, family);
  if (own !== undefined) return own.restPasses === true || Object.hasOwn(own.operations, operation);
  if (family !== 'files' || files === undefined || files.restPasses === true) return true;
  const name = filesOperations[operation];
  return name === undefined || files[name] !== undefined;
}

/** What the operations of files are called where a vendor has them in its own words. */
export const filesOperations: Readonly<Record<string, FilesOperation>> = {
  uploadFile: 'upload',
  retrieveFile: 'retrieve',
  retrieveFileContent: 'content',
  listFiles: 'list',
  deleteFile: 'delete',
};
