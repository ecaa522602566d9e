import type { MessageInitShape } from '@bufbuild/protobuf';
import type { config } from '@sluice/proto-stubs';
import type { ChangeNotice } from '../kernel/database/change.ts';
import { asResponse, type FollowResponse } from './as-response.ts';
import type { KeyChanges } from './key-changes.ts';
import type { KnownRevisions } from './known-revisions.ts';
import type { LiveGateways } from './live-gateways.ts';
import type { Revision } from './read-change.ts';

export interface FollowerParts {
  revisions: KnownRevisions;
  keyChanges: KeyChanges;
}

/** One gateway that follows: what it holds, of which alone it is told. */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #push: (message: FollowResponse) => void;
  /** Workspaces and organisations; undefined = it does not say, and hears of everything. */
  #held: Set<string> | undefined;
  #mark = '';
  /** Undefined until it has said so. */
  #replicaId: string | undefined;

  constructor(parts: FollowerParts, push: (message: FollowResponse) => void) {
    this.#parts = parts;
    this.#push = push;
  }

  isCalled(replicaId: string): void {
    this.#replicaId = replicaId;
  }

  /** It holds nothing that it must hear of, until it says so. */
  saysHolding(): void {
    this.#held ??= new Set();
  }

  /** Whether it says what it holds. */
  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  hears(notice: ChangeNotice): boolean {
    if (this.#held === undefined) return true;
    if ('workspace' in notice) return this.#held.has(notice.workspace);
    if ('organisation' in notice) return this.#held.has(notice.organisation);
    return notice.of === undefined || this.#held.has(notice.of);
  }

  tell(notice: ChangeNotice): void {
    if ('key' in notice) this.#mark = notice.mark ?? this.#mark;
    this.#push(asResponse(notice));
  }

  /** With the mark of keys that others hold and that changed meanwhile, and with who else is there. */
  heartbeat(live: LiveGateways): FollowResponse {
    const { lastMark } = this.#parts.keyChanges;
    const isNew = this.#held !== undefined && lastMark !== this.#mark;
    this.#mark = lastMark;
    const mark = isNew ? lastMark : '';
    if (this.#replicaId === undefined) return { event: { case: 'heartbeat', value: { mark } } };
    live.beat();
    const { index: gatewayIndex, count: liveGateways } = live.rankOf(this.#replicaId);
    return { event: { case: 'heartbeat', value: { mark, liveGateways, gatewayIndex } } };
  }

  /**
   * From now on it hears of these, too, and before that of what is different now.
   * First the one, then the other: what changes in between is told twice, and not never.
   */
  async holds({ number, held, keysMark }: config.Holding): Promise<void> {
    const holding = this.#held ?? new Set();
    this.#held = holding;
    for (const { id } of held) holding.add(id.toLowerCase());
    await this.#compare(held);
    const keys = keysMark === undefined ? undefined : await this.#compareKeys(keysMark);
    this.#push({ event: { case: 'compared', value: { number, ...(keys && { keys }) } } });
  }

  /** Hundreds of gateways hold thousands each: what is known already takes no promise. */
  async #compare(held: readonly config.Held[]): Promise<void> {
    const unknown: Promise<void>[] = [];
    for (const each of held) {
      if (each.stamp === '') continue;
      const now = this.#parts.revisions.of(each.id);
      if (now instanceof Promise)
        unknown.push(now.then((found) => this.#tellDifference(each, found)));
      else this.#tellDifference(each, now);
    }
    await Promise.all(unknown);
  }

  #tellDifference({ id, revision, stamp }: config.Held, now: Revision | null): void {
    if (now?.revision === revision && now.stamp === stamp) return;
    this.#push(asResponse({ workspace: id, revision: String(now?.revision ?? 0n) }));
  }

  async #compareKeys(known: string): Promise<MessageInitShape<typeof config.ComparedKeysSchema>> {
    const { keys, mark } = await this.#parts.keyChanges.since(known);
    for (const { key, of } of keys ?? []) if (this.#held?.has(of)) this.#push(asResponse({ key }));
    return { unknown: keys === undefined, mark };
  }
}
