import { GatewayError } from '@sluice/errors';
import type { Database } from '../kernel/database/client.ts';
import { sumKept } from './file-store.ts';

/** Of responses and conversations. */
export interface KeptBounds {
  /** That a workspace may have at once, and how many bytes they may be together; about, as replicas look now and then. */
  readonly countMax: number;
  readonly bytesMax: number;
  /** Since they were changed last; 0 = until they are deleted. */
  readonly keptMs: number;
}

/** Counting a hundred thousand rows for each response would cost more than the response. */
const lookAgainMs = 10_000;
const workspacesMax = 10_000;

interface Room {
  count: number;
  bytes: number;
  readonly untilMs: number;
}

/** Whether a workspace may keep one more response or conversation: as of a look a few seconds ago, and what was kept here since. */
export class KeptRoom {
  readonly #db: Database;
  readonly #bounds: KeptBounds;
  readonly #now: () => Date;
  readonly #rooms = new Map<string, Room>();

  constructor(parts: { client: Database; responses: KeptBounds; now: () => Date }) {
    this.#db = parts.client;
    this.#bounds = parts.responses;
    this.#now = parts.now;
  }

  /** @throws GatewayError `response.too_many` */
  async take(workspaceId: string): Promise<void> {
    const { countMax, bytesMax } = this.#bounds;
    const room = await this.#roomOf(workspaceId);
    if (room.count >= countMax || room.bytes >= bytesMax)
      throw new GatewayError('response.too_many');
    room.count += 1;
  }

  /** What has become larger. @throws GatewayError `response.too_many` */
  async grow(workspaceId: string, bytes: number): Promise<void> {
    const room = await this.#roomOf(workspaceId);
    if (room.bytes >= this.#bounds.bytesMax) throw new GatewayError('response.too_many');
    room.bytes += bytes;
  }

  /** What was taken turned out to have so many. */
  filled(workspaceId: string, bytes: number): void {
    const room = this.#rooms.get(workspaceId);
    if (room !== undefined) room.bytes += bytes;
  }

  async #roomOf(workspaceId: string): Promise<Room> {
    const nowMs = this.#now().getTime();
    const held = this.#rooms.get(workspaceId);
    if (held !== undefined && held.untilMs > nowMs) return held;
    const room = { ...(await sumKept(this.#db, workspaceId)), untilMs: nowMs + lookAgainMs };
    if (this.#rooms.size >= workspacesMax) this.#rooms.clear();
    this.#rooms.set(workspaceId, room);
    return room;
  }
}
