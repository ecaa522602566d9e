/**
 * Every key we have in Redis. The braces are what a cluster hashes: all keys of
 * an organisation are in one slot, so that a script may touch any of them.
 * Circuits are told of in one round trip for all organisations, and share one.
 */
export const sharedKeys = {
  /** The counter of one limit; the script adds the number of the window. */
  limit: (organisationId: string, key: string) => `sluice:{${organisationId}}:rl:${key}`,
  /** All groups of a policy, as one hash. */
  limitGroups: (organisationId: string, pool: string) =>
    `sluice:{${organisationId}}:rl:${pool}:groups`,
  keptReply: (organisationId: string, key: string) => `sluice:{${organisationId}}:cache:${key}`,
  stickyChild: (organisationId: string, key: string) => `sluice:{${organisationId}}:sticky:${key}`,
  circuits: (name: string) => `sluice:cb:{cb}:${name}`,
  /** In the slot of another key; anywhere without one. */
  probeBeside: (key: string) => `${key.slice(0, key.indexOf('}') + 1) || 'sluice'}:probe`,
} as const;
