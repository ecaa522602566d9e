/**
 * Folders whose files are signed: `SHA256SUMS` lists them as `sha256sum` does,
 * `SHA256SUMS.sig` is its signature as `openssl dgst -sha256 -sign` makes it.
 * Bundles and the operator's facts have the same form, and both can be checked
 * with openssl and sha256sum alone.
 */
export { readPublicKeys } from './keys.ts';
export { loadPublicKeys } from './load-public-keys.ts';
export { signFolder, sumsOf } from './sign-folder.ts';
export { openSignedFolder, type SignedFolder } from './signed-folder.ts';
export { SignatureFault, signatureName, sumsName } from './sums.ts';
