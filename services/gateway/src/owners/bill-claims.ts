import { hash } from 'node:crypto';
import { RecentMap } from '../chain/recent-map.ts';
import { sharedKeys } from '../redis/shared-keys.ts';
import { sharedScript } from '../redis/shared-script.ts';
import type { SharedPart, SharedStore } from '../redis/shared-store.ts';

/** Longer than a provider keeps what was billed. */
const ttlMs = 60 * 24 * 60 * 60_000;
const deadlineMs = 500;
const claimsMax = 100_000;

const claim = sharedScript<number>(`
if redis.call('SET', KEYS[1], '', 'NX', 'PX', ARGV[1]) then return 1 end
return 0
`);

const known = sharedScript<number>(`return redis.call('EXISTS', KEYS[1])`);

/** Who bills an object: the first who sees that its work has ended, at any gateway. */
export class BillClaims {
  readonly #shared: SharedPart | undefined;
  readonly #own = new RecentMap<true>(claimsMax);

  constructor(shared: SharedStore | undefined) {
    this.#shared = shared?.share({
      name: 'bills',
      deadlineMs,
    });
  }

  /** Whether it is billed already, as far as that is known. Never rejects. */
  async isTaken(organisationId: string, origin: string, id: string): Promise<boolean> {
    const digest = hash('sha256', `${origin}\n${id}`, 'base64url');
    const key = sharedKeys.objectBill(organisationId, digest);
    if (this.#own.use(key) === true) return true;
    const shared = this.#shared;
    if (shared === undefined) return false;
    return shared
      .call(key, (redis) => known.run(redis, [key], []))
      .then(
        (found) => found === 1,
        () => false,
      );
  }

  /** False = it is billed already. Never rejects: without Redis the record's id makes it one bill all the same. */
  take(organisationId: string, origin: string, id: string): boolean | Promise<boolean> {
    const digest = hash('sha256', `${origin}\n${id}`, 'base64url');
    const key = sharedKeys.objectBill(organisationId, digest);
    if (this.#own.use(key) === true) return false;
    this.#own.set(key, true);
    const shared = this.#shared;
    if (shared === undefined) return true;
    return shared
      .call(key, (redis) => claim.run(redis, [key], [ttlMs]))
      .then(
        (isFirst) => isFirst === 1,
        () => true,
      );
  }
}
