import type { SealedAddresses } from '@sluice/a2a';
import type { PublicAddresses } from '@sluice/contracts';
import type { HostRules, UpstreamPools } from '@sluice/outbound';
import type { Children } from '../children/children.ts';
import type { Identities } from '../identity/tell-identity.ts';
import type { CallMeter } from '../metering/call-meter.ts';
import type { CallbackAddresses } from './callbacks/callback-addresses.ts';
import type { AgentGuards } from './guards/agent-guards.ts';
import type { TaskNotes } from './task-notes.ts';

/** What calls of agents, and their callbacks, are made with. */
export interface AgentParts {
  readonly pools: UpstreamPools;
  readonly hostRules: HostRules;
  readonly meter: CallMeter;
  readonly notes: TaskNotes;
  /** What the agents' own calls come to. */
  readonly children: Children;
  readonly guards: AgentGuards;
  readonly identities: Identities;
  readonly sealed: SealedAddresses;
  readonly callbacks: CallbackAddresses;
  /** Under which address callers reach this installation. */
  readonly addresses: PublicAddresses;
  /** `x-service-api-key`, as it is called here. */
  readonly keyHeader: string;
  /** Of an answer that is read whole. */
  readonly replyBytesMax: number;
}
