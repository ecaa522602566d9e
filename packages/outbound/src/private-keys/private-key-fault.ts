/** Why a private key is not taken. The message completes "the key …"; nothing of the key is in it. */
export class PrivateKeyFault extends Error {
  override name = 'PrivateKeyFault';
}
