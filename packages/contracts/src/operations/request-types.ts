import { type CalledId, endpoints, objectOperations } from './operations.ts';

/** Published names of operations that are not served yet: checks that name them are kept, and match nothing. */
const requestTypesToCome = ['realtime'] as const;

export type RequestType = CalledId | (typeof requestTypesToCome)[number];

/** What checks may call a request by: every endpoint, what is asked of what stays at providers, and what will be. */
export const requestTypes: readonly RequestType[] = [
  ...new Set([
    ...endpoints.map(({ id }) => id),
    ...objectOperations.map(({ id }) => id),
    ...requestTypesToCome,
  ]),
];
