import type { KeyType } from '@sluice/contracts';
import type { RotationPolicy } from '@sluice/contracts/admin';
import type { Database } from '../../kernel/database/client.ts';
import { noJson } from '../../kernel/database/no-json.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import type {
  StoredRateLimit,
  StoredUsageLimits,
} from '../../limits/usage-limits/stored-limits.ts';
import type { MintKey } from './secrets.ts';
import { insertApiKey } from './store.ts';

/** A key that is to be made. What is not given is as a key has it by default. */
export interface NewApiKey {
  organisationId: string;
  type: KeyType;
  name: string;
  /** Chosen, and unique in the organisation; else one is made of the name. */
  slug?: string | undefined;
  scopes: readonly string[];
  workspaceId?: string | undefined;
  /** The user a user key belongs to. */
  userId?: string | undefined;
  /** The user on whose behalf it is made. */
  createdByUserId?: string | undefined;
  /** `auto` for keys that nobody asked for by a request of their own. */
  creationMode?: 'ui' | 'api' | 'auto';
  description?: string | null | undefined;
  rateLimits?: readonly StoredRateLimit[] | undefined;
  usageLimits?: StoredUsageLimits | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  configId?: string | null | undefined;
  allowConfigOverride?: boolean | undefined;
  alertEmails?: readonly string[] | undefined;
  expiresAt?: Date | null | undefined;
  rotationPolicy?: RotationPolicy | undefined;
  nextRotationAt?: Date | null | undefined;
  now: Date;
}

/**
 * Makes a key inside an open change. Whoever opened it says so in the audit
 * log; the secret is shown once, by them, and written down nowhere.
 */
export async function insertMintedKey(
  db: Database,
  mintKey: MintKey,
  made: NewApiKey,
): Promise<{ id: string; key: string }> {
  const { now, metadata, rotationPolicy, usageLimits, ...columns } = made;
  const id = newId();
  const minted = mintKey();
  await insertApiKey(
    db,
    {
      ...columns,
      id,
      slug: made.slug ?? generateSlug('api-key', made.name),
      scopes: [...made.scopes],
      rateLimits: (made.rateLimits ?? []).map((limit) => ({ ...limit })),
      usageLimits: usageLimits ?? noJson,
      metadata: { ...metadata },
      alertEmails: [...(made.alertEmails ?? [])],
      rotationPolicy: rotationPolicy === undefined ? noJson : { ...rotationPolicy },
      expiryNoticeAt: made.expiresAt,
      rotationNoticeAt: made.nextRotationAt,
      createdAt: now,
      updatedAt: now,
    },
    minted,
    now,
  );
  return { id, key: minted.key };
}
