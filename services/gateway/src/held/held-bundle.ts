import type { config } from '@sluice/proto-stubs';
import {
  changedTables,
  emptyTables,
  type SectionName,
  type SectionTables,
  sectionNames,
} from './sections/index.ts';

/** What is held of one workspace. */
export interface HeldBundle extends SectionTables {
  readonly source: config.Bundle;
  /** Undefined = it came from a control plane that knows no sections. */
  readonly known: KnownState | undefined;
}

/** What a control plane needs to be told to send the difference. */
export interface KnownState {
  readonly revision: bigint;
  readonly stamp: string;
  readonly coreHash: string;
  readonly formats: Readonly<Record<string, number>>;
}

/** How a held bundle becomes the next one. */
export interface BundleUpdate {
  /** Undefined = what is held. */
  readonly core: config.Bundle | undefined;
  readonly revision: bigint;
  readonly hash: string;
  readonly known: KnownState | undefined;
  /** Stamp of the state that this is the difference to; empty = it is all there is. */
  readonly since: string;
  /** Sections that are sent from their beginning, and already filled. */
  readonly startedOver: Partial<SectionTables>;
  readonly changes: Partial<Record<SectionName, SectionChange>>;
}

export interface SectionChange {
  readonly upserts: Uint8Array[];
  readonly gone: string[];
}

/** @throws Error when the difference is one to something that is not held. */
export function updated(held: HeldBundle | undefined, update: BundleUpdate): HeldBundle {
  const { revision, hash, known, startedOver, changes } = update;
  const core = update.core ?? held?.source;
  if (core === undefined) throw new Error('the control plane sent no bundle');
  const tables = changedTables(held ?? emptyTables(), (name, table) => {
    const base = (startedOver[name] as typeof table | undefined) ?? table;
    const change = changes[name];
    return change === undefined ? base : (base.with(change.upserts, change.gone) as typeof table);
  });
  return { source: { ...core, revision, hash }, known, ...tables };
}

/** The same with tables that are laid out anew where they have become worn. */
export async function renewed(held: HeldBundle): Promise<HeldBundle> {
  const tables = {
    configs: await unworn(held.configs),
    prompts: await unworn(held.prompts),
    promptVersions: await unworn(held.promptVersions),
    partials: await unworn(held.partials),
    partialVersions: await unworn(held.partialVersions),
    guardrails: await unworn(held.guardrails),
    guardrailVersions: await unworn(held.guardrailVersions),
    mcpServers: await unworn(held.mcpServers),
    agentServers: await unworn(held.agentServers),
  };
  return { ...held, ...tables };
}

function unworn<Table extends { isWorn: boolean; renewed(): Promise<Table> }>(
  table: Table,
): Table | Promise<Table> {
  return table.isWorn ? table.renewed() : table;
}

export function isWorn(held: HeldBundle): boolean {
  return sectionNames.some((name) => held[name].isWorn);
}
