import type { NamedObject } from '@sluice/contracts';

/** Rows of models of many vendors, who each say in their own place what lies in the bucket. */
export const bucketNames: readonly NamedObject[] = [{ kind: 'file', at: '**', isAddress: true }];
