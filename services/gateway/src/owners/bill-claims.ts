import { hash } from 'node:crypto';
import type { ObjectKind } from '@sluice/contracts';
import { RecentMap } from '../chain/recent-map.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import { sharedScript } from '../redis/shared-script.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';
import type { OwnerLedger } from './owner-notes.ts';

/** Longer than a provider keeps what was billed. */
const ttlMs = 60 * 24 * 60 * 60_000;
/** Who dies between a claim and the record leaves the object to the next who looks, this much later. */
const pendingMs = 60_000;
const deadlineMs = 500;
const claimsMax = 100_000;

/** What came of a claim: `pending` = another gateway is at it. */
type Claimed = 'first' | 'pending' | 'kept';

const claim = sharedScript<Claimed>(`
local was = redis.call('GET', KEYS[1])
if was == 'kept' then return 'kept' end
if was then return 'pending' end
redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
return 'first'
`);

const known = sharedScript<number>(`return redis.call('EXISTS', KEYS[1])`);

const keep = sharedScript<unknown>(`return redis.call('SET', KEYS[1], 'kept', 'PX', ARGV[1])`);

const drop = sharedScript<number>(`return redis.call('DEL', KEYS[1])`);

/** An object whose work may have ended, and who looks at it. */
export interface BilledObject {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly kind: ObjectKind;
  /** The origin that was called. */
  readonly origin: string;
  readonly id: string;
}

/**
 * Who bills an object: the first who sees that its work has ended, at any gateway and in any life of it. In memory, in Redis where
 * gateways share one, and in the ledger, which says so to a gateway that began later and where Redis was emptied. A claim is
 * `keep`t when its record is stored; one that comes to nothing is `release`d, and one of a gateway that dies lapses.
 */
export class BillClaims {
  readonly #shared: SharedPart | undefined;
  readonly #ledger: OwnerLedger | undefined;
  readonly #own = new RecentMap<true>(claimsMax);

  constructor(shared: SharedStore | undefined, ledger?: OwnerLedger) {
    this.#shared = shared?.share({
      name: 'bills',
      deadlineMs,
    });
    this.#ledger = ledger;
  }

  /** Whether it is billed already, as far as that is known. Never rejects. */
  async isTaken(object: BilledObject): Promise<boolean> {
    const key = keyOf(object);
    if (this.#own.use(key) === true) return true;
    const found = await this.#shared
      ?.call(key, (redis) => known.run(redis, [key], []))
      .catch(() => 0);
    return found === 1 || this.#isInLedger(object);
  }

  /** False = it is billed already, or another gateway is at it. Never rejects: where nobody can be asked the record's id makes it one bill all the same. */
  async take(object: BilledObject): Promise<boolean> {
    const key = keyOf(object);
    if (this.#own.use(key) === true) return false;
    this.#own.set(key, true);
    const claimed = await this.#shared
      ?.call(key, (redis) => claim.run(redis, [key], [pendingMs]))
      .catch((): Claimed => 'first');
    // Who is at it may die.
    if (claimed === 'pending') this.#own.delete(key);
    if (claimed === 'pending' || claimed === 'kept') return false;
    if (!(await this.#isInLedger(object))) return true;
    await this.#share(key, (redis) => keep.run(redis, [key], [ttlMs]));
    return false;
  }

  /** It is billed: nobody does that again. Never rejects. */
  async keep(object: BilledObject): Promise<void> {
    const key = keyOf(object);
    const { organisationId, workspaceId, kind, origin } = object;
    const note = { workspaceId, kind, origin, provider: '', account: '', model: '' };
    this.#ledger?.note(organisationId, ledgerKeyOf(object), note);
    await this.#share(key, (redis) => keep.run(redis, [key], [ttlMs]));
  }

  /** It could not be billed: the next who looks may. Never rejects. */
  async release(object: BilledObject): Promise<void> {
    const key = keyOf(object);
    this.#own.delete(key);
    await this.#share(key, (redis) => drop.run(redis, [key], []));
  }

  async #isInLedger(object: BilledObject): Promise<boolean> {
    const { organisationId } = object;
    const objectKey = ledgerKeyOf(object);
    // Nobody guesses these: what is not found counts for no cap.
    const notes = await this.#ledger
      ?.find({ organisationId, objectKey }, 'listed')
      .catch(() => undefined);
    return notes !== undefined && notes.length > 0;
  }

  async #share(key: string, work: Parameters<SharedPart['call']>[1]): Promise<void> {
    await this.#shared?.call(key, work).catch(() => {
      // The part says so; this gateway and the ledger know it.
    });
  }
}

function keyOf({ organisationId, origin, id }: BilledObject): string {
  return sharedKeys.objectBill(organisationId, hash('sha256', `${origin}\n${id}`, 'base64url'));
}

/** Of no id: those have no such beginning. */
function ledgerKeyOf({ origin, id }: BilledObject): string {
  return hash('sha256', `\0bill\n${origin}\n${id}`, 'base64url');
}
