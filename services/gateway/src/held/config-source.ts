import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RefusalReport } from '@sluice/jwt';
import type { config } from '@sluice/proto-stubs';
import type { BundleUpdate, HeldBundle } from './held-bundle.ts';

export type WatchEvent = config.FollowResponse['event'];

export type SeenReport = MessageInitShape<typeof config.ReportDefinitionsRequestSchema>;

export type Holding = MessageInitShape<typeof config.HoldingSchema>;

/** What a key is known by under each pepper. */
export interface KeyHashes {
  /** The name of the pepper of the hash that is asked for. */
  readonly pepper: string;
  readonly others: readonly { readonly pepper: string; readonly keyHash: Buffer }[];
}

/** The control plane as the gateway sees it. No call waits longer than its time-out for a sign of life; failures reject. */
export interface ConfigSource {
  /** @param others the same key under other peppers, while they are rotated */
  resolveKey(hash: Buffer, others?: KeyHashes): Promise<config.Key | undefined>;
  /** By its id, which is no secret: for somebody else who asks what it may do. */
  keyOfId(id: string): Promise<config.Key | undefined>;
  /** Several at once, at most 500: by hash in hexadecimal, those that there are. */
  resolveKeys(hashes: readonly Buffer[]): Promise<ReadonlyMap<string, config.Key>>;
  /** What is different from what is held; `unchanged` when nothing is, `gone` when the workspace is. */
  getBundle(
    workspaceId: string,
    held: HeldBundle | undefined,
  ): Promise<BundleUpdate | 'unchanged' | 'gone'>;
  /** `unchanged` when the known hash is still current, `gone` when there is no such organisation. */
  getOrganisation(
    id: string,
    knownHash: string,
  ): Promise<config.Organisation | 'unchanged' | 'gone'>;
  reportRefusedTokens(report: RefusalReport): Promise<void>;
  /** Who calls, signed for one server. */
  signIdentity(question: {
    readonly audience: string;
    readonly claimsJson: string;
  }): Promise<{ readonly token: string; readonly expiresAtMs: bigint }>;
  /** What MCP servers listed. */
  reportDefinitions(report: SeenReport): Promise<void>;
  /** What an MCP server knows its callers by; why there is none is an answer. */
  upstreamToken(
    request: MessageInitShape<typeof config.GetUpstreamTokenRequestSchema>,
  ): Promise<config.GetUpstreamTokenResponse>;
  /** Which MCP servers there are at an address, and who gives tokens for each. */
  issuerServers(
    address: MessageInitShape<typeof config.FindIssuerServersRequestSchema>,
  ): Promise<readonly config.IssuerServer[]>;
  /** Somebody whom such an issuer knows comes in; why not is an answer, and empty when they do. */
  enterByIssuer(
    request: MessageInitShape<typeof config.EnterByIssuerRequestSchema>,
  ): Promise<string>;
  /** Calls back for every event until the stream ends or `stop` is called; resolves then, and never rejects. */
  watch(onEvent: (event: WatchEvent) => void): Watching;
  /** Why it does not answer now, in words for who runs the two; undefined = it does. */
  whyAway(): Promise<string | undefined>;
  close(): void;
}

export interface Watching {
  readonly ended: Promise<void>;
  /** All that was told before this barrier is in force here. */
  passed(barrier: bigint): void;
  /** What is held, or about to be asked for: to one that compares. */
  holds(holding: Holding): void;
  stop(): void;
}
