import { type Endpoint, endpoints } from './operations.ts';

/** Published names of operations that are not served yet: checks that name them are kept, and match nothing. */
const requestTypesToCome = [
  'realtime',
  'uploadFile',
  'listFiles',
  'retrieveFile',
  'deleteFile',
  'retrieveFileContent',
  'createBatch',
  'retrieveBatch',
  'cancelBatch',
  'listBatches',
  'getBatchOutput',
  'listFinetunes',
  'createFinetune',
  'retrieveFinetune',
  'cancelFinetune',
  'getModelResponse',
  'deleteModelResponse',
  'listResponseInputItems',
] as const;

export type RequestType = Endpoint | (typeof requestTypesToCome)[number];

/** What checks may call a request by: every endpoint, and those that will be. */
export const requestTypes: readonly RequestType[] = [
  ...new Set([...endpoints.map(({ id }) => id), ...requestTypesToCome]),
];
