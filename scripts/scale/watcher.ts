import { create, toBinary } from '@bufbuild/protobuf';
import { formats } from '@sluice/control-plane/sections';
import {
  ConfigStore,
  type ConfigStoreOptions,
  createConfigSource,
  emptyTables,
} from '@sluice/gateway/config-sync';
import { config } from '@sluice/proto-stubs';
import { createRpcClient } from '@sluice/rpc';
import { createLogger } from '@sluice/telemetry';
import type { FilledWorkspace, MissedChanges } from './fill-database.ts';

type Source = ConfigStoreOptions['source'];
type Snapshot = ConfigStoreOptions['snapshot'];
type Content = ReturnType<Snapshot['content']>;
type Key = Content['keys'][number];

/** What came of the control plane, and what was asked of it. */
export interface WatcherCounts {
  /** Messages of the stream, but for heartbeats, with their frames. */
  toldBytes: number;
  heartbeats: number;
  heartbeatBytes: number;
  bundles: number;
  keys: number;
  keyLists: number;
  /** How often its keys were compared: once a stream, and again where the control plane itself had lost its database. */
  comparisons: number;
  /** Asked, and not answered in time: asked for again, and counted when it is. */
  unanswered: number;
}

export interface WatcherOptions {
  address: string;
  token: string;
  /** Of all watchers. */
  number: number;
  held: readonly FilledWorkspace[];
  mark: string;
}

/** Of gRPC and HTTP/2, around each message. */
const frameBytes = 5 + 9;

const logger = createLogger({ service: 'watcher', level: 'silent' });

const nothingYet: WatcherCounts = {
  toldBytes: 0,
  heartbeats: 0,
  heartbeatBytes: 0,
  bundles: 0,
  keys: 0,
  keyLists: 0,
  comparisons: 0,
  unanswered: 0,
};

/**
 * What of a gateway follows the control plane, and nothing else of it: its own
 * classes on a connection of their own, with what it holds given to them as if
 * from disk, and what they ask for counted.
 */
export class Watcher {
  readonly #store: ConfigStore;
  readonly #held: ReadonlySet<string>;
  /** Of the keys that it asked for. */
  readonly #names = new Map<string, string>();
  counts = { ...nothingYet };
  /** When it last heard that all that is different was told (Unix ms). */
  comparedAt = 0;

  constructor({ address, token, number, held, mark }: WatcherOptions) {
    this.#held = new Set(held.map(({ id }) => id));
    const content = heldContent(held, mark);
    const snapshot: Snapshot = {
      load: async () => ({ content }),
      note() {},
      close: async () => {},
      content: () => content,
    };
    const source = createConfigSource(
      createRpcClient(config.ConfigService, {
        address,
        token,
        // Clients with the same options would share one connection.
        messageBytesMax: 64 * 1024 * 1024 + number,
      }),
      `watcher-${number}`,
      3_000,
    );
    this.#store = new ConfigStore({
      source: this.#counted(source),
      snapshot,
      peppers: [Buffer.alloc(32)],
      logger,
    });
  }

  start(): Promise<void> {
    return this.#store.start();
  }

  stop(): Promise<void> {
    return this.#store.stop();
  }

  forgetCounts(): void {
    this.counts = { ...nothingYet };
  }

  holds(workspaceId: string): boolean {
    return this.#held.has(workspaceId);
  }

  /** Whether it knows since then that nothing it holds is older than this. */
  isFresh(since: number, { revisions, keys }: MissedChanges): boolean {
    if (this.comparedAt < since) return false;
    return Object.entries(revisions).every(([workspaceId, revision]) => {
      if (!this.#held.has(workspaceId)) return true;
      const bundle = this.#store.bundle(workspaceId);
      const isHeld = !(bundle instanceof Promise) && bundle !== undefined;
      const key = keys[workspaceId];
      return (
        isHeld &&
        bundle.source.revision >= BigInt(revision) &&
        key !== undefined &&
        this.#names.get(key.id) === key.name
      );
    });
  }

  async #asks<T>(what: 'keys' | 'keyLists' | 'bundles', answer: Promise<T>): Promise<T> {
    try {
      const answered = await answer;
      this.counts[what] += 1;
      return answered;
    } catch (error) {
      this.counts.unanswered += 1;
      throw error;
    }
  }

  #counted(source: Source): Source {
    return {
      ...source,
      resolveKey: async (hash) => {
        const key = await this.#asks('keys', source.resolveKey(hash));
        if (key !== undefined) this.#names.set(key.id, key.name);
        return key;
      },
      resolveKeys: (hashes) => {
        return this.#asks('keyLists', source.resolveKeys(hashes));
      },
      getBundle: (workspaceId, held) => {
        return this.#asks('bundles', source.getBundle(workspaceId, held));
      },
      watch: (onEvent) =>
        source.watch((event) => {
          const message = create(config.FollowResponseSchema, { event });
          const bytes = toBinary(config.FollowResponseSchema, message).length + frameBytes;
          if (event.case === 'heartbeat') {
            this.counts.heartbeats += 1;
            this.counts.heartbeatBytes += bytes;
          } else this.counts.toldBytes += bytes;
          if (event.case === 'compared' && event.value.keys !== undefined) {
            this.comparedAt = Date.now();
            this.counts.comparisons += 1;
          }
          onEvent(event);
        }),
    };
  }
}

/** As it would have come from disk, in the formats of now: what is held in another is asked for whole. */
function heldContent(held: readonly FilledWorkspace[], keysMark: string): Content {
  return {
    keys: held.flatMap(heldKeys),
    bundles: held.map(({ id, revision, stamp }) => ({
      source: create(config.BundleSchema, { workspaceId: id, revision, hash: stamp }),
      known: { revision, stamp, coreHash: '', formats },
      ...emptyTables(),
    })),
    organisations: [],
    keysMark,
  };
}

function heldKeys({ id: workspaceId, keys }: FilledWorkspace): Key[] {
  return keys.map(({ id, name, hashHex }) => ({
    hashHex,
    key: create(config.KeySchema, {
      id,
      name,
      workspaceId,
      type: config.KeyType.WORKSPACE_SERVICE,
      status: config.KeyStatus.ACTIVE,
      scopes: ['completions.write', 'logs.view'],
    }),
  }));
}
