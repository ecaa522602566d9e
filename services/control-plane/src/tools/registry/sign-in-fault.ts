/** Why there is no token for a server, in words that hold nothing of what was sent. */
export class SignInFault extends Error {
  override readonly name = 'SignInFault';
  /** An error code of OAuth (`invalid_client` …), or one of ours. */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
