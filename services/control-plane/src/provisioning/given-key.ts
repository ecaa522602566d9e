import { isWellFormedServiceKey } from '@sluice/contracts';
import { SettingsError } from '@sluice/env';
import { type MintKey, mintGivenKey } from '../people/api-keys/secrets.ts';

/** Of a key that the operator brings; undefined where they bring none. @throws SettingsError for one that is none, by its variable */
export function givenKey(
  variable: string,
  key: string | undefined,
  pepper: Buffer,
): MintKey | undefined {
  if (key === undefined) return undefined;
  if (!isWellFormedServiceKey(key))
    throw new SettingsError([
      `${variable} is no service key: a prefix, 43 characters of base64url and a checksum of 6. \`npm run admin-key -- --print\` prints one.`,
    ]);
  return mintGivenKey(key, pepper);
}
