import { createServiceKey, hashServiceKey, maskServiceKey, pepperName } from '@sluice/contracts';
import type { StoredSecret } from './store.ts';

/** A new key: the text that is shown once, and what is kept of it. */
export interface MintedKey extends StoredSecret {
  key: string;
}

export type MintKey = () => MintedKey;

export function createMintKey(options: { prefix: string; pepper: Buffer }): MintKey {
  return () => minted(createServiceKey(options.prefix), options.pepper);
}

/** Of a key that the operator made; the caller has seen that it is well formed. */
export function mintGivenKey(key: string, pepper: Buffer): MintKey {
  return () => minted(key, pepper);
}

function minted(key: string, pepper: Buffer): MintedKey {
  return {
    key,
    hash: hashServiceKey(key, pepper),
    masked: maskServiceKey(key),
    pepper: pepperName(pepper),
  };
}
