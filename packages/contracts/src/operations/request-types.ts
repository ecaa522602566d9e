import { type CalledId, endpoints, objectOperations } from './operations.ts';

export type RequestType = CalledId;

/** What checks may call a request by: every endpoint, and what is asked of what stays at providers. */
export const requestTypes: readonly RequestType[] = [
  ...new Set([...endpoints.map(({ id }) => id), ...objectOperations.map(({ id }) => id)]),
];
