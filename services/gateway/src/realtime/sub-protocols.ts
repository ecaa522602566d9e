/** Browsers can send no headers with a WebSocket: OpenAI's own clients show the key here. */
const keyPrefix = 'openai-insecure-api-key.';
/** Whose account is meant is for who owns the credential to say. */
const accountPrefixes = ['openai-organization.', 'openai-project.'];
/** The one that is answered: the others carry words, and nobody speaks them. */
export const spokenProtocol = 'realtime';

export interface OfferedProtocols {
  /** A service key; undefined = none was shown here. */
  readonly key: string | undefined;
  /** Of those that are left, the header as it may be seen by others; undefined = there is none. */
  readonly header: string | undefined;
  /** Offered to the provider in turn; empty = it is offered none. */
  readonly forwarded: readonly string[];
}

/** @param header `Sec-WebSocket-Protocol` as it came */
export function readProtocols(header: string | undefined): OfferedProtocols {
  const offered = (header ?? '').split(',').flatMap((part) => part.trim() || []);
  const shown = offered.find((name) => name.startsWith(keyPrefix));
  const left = offered.filter((name) => !name.startsWith(keyPrefix));
  const words = left.filter(
    (name) => name !== spokenProtocol && !accountPrefixes.some((prefix) => name.startsWith(prefix)),
  );
  return {
    key: shown?.slice(keyPrefix.length) || undefined,
    header: left.length === 0 ? undefined : left.join(', '),
    // A vendor that is offered some must choose one; all know this one.
    forwarded: words.length === 0 ? [] : [spokenProtocol, ...words],
  };
}
