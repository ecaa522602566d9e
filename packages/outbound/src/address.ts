export type ResolveName = (hostname: string, owner: string) => Promise<readonly Address[]>;

/**
 * Opens connections to upstreams, and only to addresses that were checked: the
 * name is resolved here once, every answer must be allowed, and the socket is
 * pinned to those answers, so that a name cannot change its mind in between.
 */
export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}
