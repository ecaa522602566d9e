import type { KeyType, WorkspaceRole } from '@sluice/contracts';
import type { Request } from 'express';

/** The key or token that sent a request, as the admin API sees it. */
export interface Caller {
  /** Of a token an id that stands for its subject. */
  readonly keyId: string;
  readonly keyType: KeyType;
  readonly organisationId: string;
  /** Set for workspace keys; whatever workspace the request names, this one is meant. */
  readonly workspaceId: string | undefined;
  /** The one that an organisation key named: what belongs to another does not exist for it. */
  readonly namedWorkspaceId?: string | undefined;
  /** The user of a user key; for service keys the user on whose behalf the key was made. */
  readonly userId: string | undefined;
  /** That user's role in the key's workspace, or in the organisation for organisation keys. */
  readonly role: WorkspaceRole | undefined;
  /** What the key may do: of a user key, what its user may do with it. */
  readonly scopes: ReadonlySet<string>;
  /** Of what keys did, the caller is shown only what their own user's keys did. */
  readonly seesOwnDataOnly: boolean;
  /** Set when a JWT stands in for a workspace's key; whom its issuer means by it. */
  readonly token?: { readonly subject: string | undefined };
}

/** Finds who sent a request; refuses those that are nobody. */
export type Authenticate = (req: Request) => Promise<Caller>;

/** Whether the key is a program's, not a person's. */
export function isServiceKey(caller: Caller): boolean {
  return caller.keyType !== 'workspace-user';
}

/** Who is written down as having done something. */
export function actorOf(caller: Caller): string {
  return caller.userId ?? caller.keyId;
}
