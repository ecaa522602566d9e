import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { Harness } from './harness.ts';

const { getSections } = config.ConfigService.method;

const idOf: Readonly<Record<string, (bytes: Uint8Array) => string>> = {
  configs: (bytes) => fromBinary(config.ConfigSchema, bytes).id,
  prompts: (bytes) => fromBinary(config.PromptSchema, bytes).id,
  promptVersions: (bytes) => fromBinary(config.PromptVersionSchema, bytes).id,
  partials: (bytes) => fromBinary(config.PromptPartialSchema, bytes).id,
  partialVersions: (bytes) => fromBinary(config.PromptPartialVersionSchema, bytes).id,
  guardrails: (bytes) => fromBinary(config.GuardrailSchema, bytes).id,
  guardrailVersions: (bytes) => fromBinary(config.GuardrailVersionSchema, bytes).id,
  mcpServers: (bytes) => fromBinary(config.McpServerSchema, bytes).id,
  agentServers: (bytes) => fromBinary(config.AgentServerSchema, bytes).id,
};

/** What one gateway holds of a workspace, as sections bring it. */
export class HeldSections {
  core: config.Bundle | undefined;
  end: config.SectionsEnd | undefined;
  readonly sections = new Map<string, Map<string, string>>();
  readonly #h: Harness;
  readonly workspaceId: string;

  constructor(h: Harness, workspaceId: string) {
    this.#h = h;
    this.workspaceId = workspaceId;
  }

  /** Asks for what changed. */
  async refresh() {
    const told = { gone: false, unchanged: false, bytes: 0, items: 0, startedOver: [] as string[] };
    const stream = this.#h.rpc.serverStream(getSections, {
      workspaceId: this.workspaceId,
      knownRevision: this.end?.revision ?? 0n,
      knownStamp: this.end?.stamp ?? '',
      knownCoreHash: this.end?.coreHash ?? '',
      knownFormats: this.end?.formats ?? {},
    });
    for await (const message of stream as AsyncIterable<config.GetSectionsResponse>) {
      told.bytes += toBinary(config.GetSectionsResponseSchema, message).length;
      const { part } = message;
      if (part.case === 'gone') told.gone = true;
      else if (part.case === 'unchanged') told.unchanged = true;
      else if (part.case === 'core') this.core = part.value;
      else if (part.case === 'end') this.end = part.value;
      else if (part.case === 'piece') {
        const { section, startsOver, upserts, gone } = part.value;
        if (startsOver) told.startedOver.push(section);
        if (startsOver) this.sections.set(section, new Map());
        const held = this.sections.get(section);
        for (const bytes of upserts)
          held?.set(idOf[section]?.(bytes) ?? '', Buffer.from(bytes).toString('base64'));
        for (const id of gone) held?.delete(id);
        told.items += upserts.length;
      }
    }
    return told;
  }

  /** Compares by content. */
  get content() {
    return {
      core: this.core,
      hash: this.end?.hash,
      sections: Object.fromEntries(
        [...this.sections].map(([name, items]) => [name, [...items].sort()]),
      ),
    };
  }
}
