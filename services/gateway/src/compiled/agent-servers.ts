import { createHash } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { JsonObject } from '@sluice/providers';
import { readObject } from './read-object.ts';
import type { Table } from './tables.ts';

/** An agent server of a workspace made ready for requests. What is not said here is as it is in `source`. */
export interface CompiledAgentServer {
  readonly source: config.AgentServer;
  /** As in the admin API, with secrets in clear. */
  readonly configurations: JsonObject;
  /** Ids of skills that are switched off. */
  readonly skillsOff: ReadonlySet<string>;
  /** The agent's own card; undefined = none is known. */
  readonly card: JsonObject | undefined;
  /** Tells one state of the server from another. */
  readonly version: string;
}

/** Messages of a table stay the same objects while they are in use. */
const compiled = new WeakMap<config.AgentServer, CompiledAgentServer>();

/** By slug or id; undefined = the workspace has no such server. */
export function findAgentServer(
  table: Table<config.AgentServer>,
  reference: string,
): CompiledAgentServer | undefined {
  const source = table.get(reference);
  if (source === undefined) return undefined;
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const made = compileAgentServer(source);
  compiled.set(source, made);
  return made;
}

function compileAgentServer(source: config.AgentServer): CompiledAgentServer {
  return {
    source,
    configurations: readObject(source.configurationsJson) ?? {},
    skillsOff: new Set(source.skills.filter(({ enabled }) => !enabled).map(({ id }) => id)),
    card: readObject(source.cardJson),
    version: createHash('sha256')
      .update(toBinary(config.AgentServerSchema, source))
      .digest('base64url'),
  };
}
