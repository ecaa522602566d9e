const vectorPrefix = 'sluice:vectors:';

/**
 * Every key we have in Redis. The braces are what a cluster hashes: all keys of
 * an organisation are in one slot, so that a script may touch any of them.
 * Circuits are told of in one round trip for all organisations, and share one.
 */
export const sharedKeys = {
  /** A counter of a limit by its name, which has its epoch in it. */
  limit: (organisationId: string, name: string) => `sluice:{${organisationId}}:l:${name}`,
  /** What is held of it. */
  limitHeld: (organisationId: string, name: string) => `sluice:{${organisationId}}:h:${name}`,
  /** How many groups of a policy have a counter. */
  limitGroups: (organisationId: string, pool: string) => `sluice:{${organisationId}}:g:${pool}`,
  /** Says that the organisation's counters are here. */
  limitMark: (organisationId: string) => `sluice:{${organisationId}}:limits`,
  keptReply: (organisationId: string, key: string) => `sluice:{${organisationId}}:cache:${key}`,
  /** The vector of a question whose answer is kept. An index finds them by how they begin. */
  vector: (organisationId: string, partition: string, id: string) =>
    `${vectorPrefix}{${organisationId}}:${partition}:${id}`,
  vectorPrefix,
  vectorIndex: (dimensions: number) => `${vectorPrefix}${dimensions}`,
  stickyChild: (organisationId: string, key: string) => `sluice:{${organisationId}}:sticky:${key}`,
  /** What became of a session of an MCP client. */
  mcpSession: (organisationId: string, name: string) => `sluice:{${organisationId}}:mcp:${name}`,
  /** Which sessions at a server were subscribed to other resources of late. */
  mcpSubscribed: (organisationId: string, serverId: string) =>
    `sluice:{${organisationId}}:mcpsub:${serverId}`,
  /** What tools said that the provider of a response has not heard yet. */
  untoldAnswers: (organisationId: string, name: string) =>
    `sluice:{${organisationId}}:said:${name}`,
  /** Who began a task of an agent, and what it used so far. */
  agentTask: (organisationId: string, id: string) => `sluice:{${organisationId}}:agent:${id}`,
  /** What an agent's own calls used, by the name that their marks give it. */
  agentSum: (organisationId: string, name: string) => `sluice:{${organisationId}}:agentsum:${name}`,
  /** Whose an object is that stays at a provider, by its id. */
  object: (organisationId: string, id: string) => `sluice:{${organisationId}}:object:${id}`,
  /** Says that what it used is billed. */
  objectBill: (organisationId: string, id: string) => `sluice:{${organisationId}}:objbill:${id}`,
  /** Left for whoever waits for it at another gateway. */
  mcpLetter: (organisationId: string, name: string) => `sluice:{${organisationId}}:mcpl:${name}`,
  /** Calls that go on beside gateways: until when each is heard, by whom, and what another needs to take it over. */
  callLeases: 'sluice:{calls}:leases',
  callOwners: 'sluice:{calls}:owners',
  callNotes: 'sluice:{calls}:notes',
  /** Says that an event of a call is accounted for. */
  callEvent: (digest: string) => `sluice:{calls}:heard:${digest}`,
  circuits: (name: string) => `sluice:cb:{cb}:${name}`,
  /** In the slot of another key; anywhere without one. */
  probeBeside: (key: string) => `${key.slice(0, key.indexOf('}') + 1) || 'sluice'}:probe`,
} as const;
