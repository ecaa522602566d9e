import { randomBytes } from 'node:crypto';
import { adminEndpoints, type EndpointId } from '@sluice/contracts/admin';
import { expect } from 'vitest';
import type { Caller, Harness } from '../support/harness.ts';

/** What an example is made from: the running service, and what only it knows. */
export interface Context {
  readonly h: Harness;
  /** The first organisation, its default workspace, its owner. */
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly workspaceSlug: string;
  readonly ownerId: string;
  /** With every scope: the organisation's key, the service key of the default workspace. */
  readonly admin: Caller;
  readonly workspace: Caller;
}

/** Values of the path's parameters, as they stand in the contract. */
export type PathValues = Readonly<Record<string, string>>;

/**
 * A valid call of one operation. The contract test sends it as it is, then with
 * each of its fields wrong in turn, by everyone who may and who may not.
 */
export interface Example {
  /** Whose key may call it; refusals are tried with the first. */
  readonly callers: readonly ('admin' | 'workspace')[];
  /** Where an organisation key says which workspace it means, when it has to or may. */
  readonly names?: 'query' | 'body';
  /** A fresh resource of the default workspace, and every way to name it in the path. */
  readonly path?: (context: Context) => Promise<readonly PathValues[]>;
  /** What the path names is a kind of resource; whose it is, the key decides. `any`: there is none that is no kind. */
  readonly pathNamesKind?: true | 'any';
  /** What the operation answers when nothing of that name is there; 404 unless told. */
  readonly missing?: number;
  readonly query?: (context: Context) => Readonly<Record<string, string>>;
  /**
   * Every field that may be sent, with a value that is valid; made anew for each call.
   * A secret among them ends in `-secret-0001`, or another number: it is looked for where it must not be.
   */
  readonly body?: (context: Context) => Record<string, unknown> | Promise<Record<string, unknown>>;
}

/**
 * Each file of `examples/` exports one, named `examples`. An operation that is
 * several in one (a path for each kind of key) has an example for each.
 */
export type Examples = Partial<Record<EndpointId, Example | readonly Example[]>>;

export const both = ['admin', 'workspace'] as const;
export const adminOnly = ['admin'] as const;
export const workspaceOnly = ['workspace'] as const;

/** For slugs and names that must not be there twice. */
export const random = () => randomBytes(6).toString('hex');

/** Sends a POST that must succeed, and returns its answer. */
export async function made(
  caller: Caller,
  id: EndpointId,
  body: object,
): Promise<Record<string, string>> {
  const answer = await caller.post(adminEndpoints[id].path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}
