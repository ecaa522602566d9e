import { createServiceKey, hashServiceKey, maskServiceKey } from '@sluice/contracts';
import type { StoredSecret } from './store.ts';

/** A new key: the text that is shown once, and what is kept of it. */
export interface MintedKey extends StoredSecret {
  key: string;
}

export type MintKey = () => MintedKey;

export function createMintKey(options: { prefix: string; pepper: Buffer }): MintKey {
  return () => {
    const key = createServiceKey(options.prefix);
    return { key, hash: hashServiceKey(key, options.pepper), masked: maskServiceKey(key) };
  };
}
