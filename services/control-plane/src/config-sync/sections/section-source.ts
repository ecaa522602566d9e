import type { Database } from '../../kernel/database/client.ts';
import type { Openers } from '../build-bundle.ts';
import type { BundleHeads } from '../bundle-rows.ts';

/** A part of a bundle of which a workspace may have very much, and of which gateways are sent what changed. */
export interface SectionSource {
  /** As gateways know it, the triggers that note its changes, and, where it has them, the pieces of GetBundle. */
  readonly name:
    | 'configs'
    | 'prompts'
    | 'promptVersions'
    | 'partials'
    | 'partialVersions'
    | 'guardrails'
    | 'guardrailVersions'
    | 'mcpServers'
    | 'agentServers';
  /** Is raised when the same rows are encoded in another way: gateways then get all of them again. */
  readonly format: number;
  /** All that the heads name, in any order. */
  items(parts: SectionParts, heads: BundleHeads): AsyncIterable<SectionItem>;
  /** Of these items those that are in force. */
  itemsById(
    parts: SectionParts,
    workspaceId: string,
    ids: readonly string[],
  ): Promise<SectionItem[]>;
}

export interface SectionParts {
  db: Database;
  open: Openers;
}

export interface SectionItem {
  readonly id: string;
  readonly bytes: Uint8Array;
}
