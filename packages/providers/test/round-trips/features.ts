/**
 * What some formats can express and others not; what every format can express
 * needs no name. Round trips are generated from what two formats share.
 */
import fc from 'fast-check';

export type Feature =
  // Model and streaming are told in the body, not by the address.
  | 'model'
  | 'image-url'
  | 'image-detail'
  | 'file'
  | 'file-url'
  | 'file-id'
  | 'text-file'
  | 'file-title'
  | 'audio'
  | 'name'
  // Some take back only what they signed, some sign nothing.
  | 'signed-thinking'
  | 'unsigned-thinking'
  | 'redacted-thinking'
  | 'cache-control'
  | 'call-ids'
  | 'result-images'
  | 'result-error'
  | 'strict-tools'
  | 'choice-none'
  | 'choice-of-tool'
  | 'one-call-at-a-time'
  | 'top-p'
  | 'top-k'
  | 'penalties'
  | 'seed'
  | 'logprobs'
  | 'top-logprobs'
  | 'logit-bias'
  | 'several-choices'
  | 'stop'
  | 'user'
  | 'json'
  | 'schema'
  | 'schema-name'
  | 'effort'
  | 'budget'
  // Of replies
  | 'reply-id'
  | 'reply-model'
  | 'created'
  | 'service-tier'
  | 'reply-thinking'
  | 'reply-signature'
  | 'reply-redacted'
  | 'refusal'
  | 'content-filter'
  | 'stop-sequence'
  | 'cache-writes'
  | 'cache-writes-1h'
  | 'reasoning-tokens'
  | 'audio-tokens'
  | 'reply-logprobs'
  | 'streamed-thinking';

export type Features = ReadonlySet<Feature>;

/** Those of `entries` whose feature is there. */
export function among<T>(
  features: Features,
  entries: [Feature | undefined, fc.Arbitrary<T>][],
): fc.Arbitrary<T> {
  return fc.oneof(
    ...entries
      .filter(([feature]) => feature === undefined || features.has(feature))
      .map(([, arbitrary]) => arbitrary),
  );
}

/** An object with those optional fields whose features are there. */
export function fields(
  features: Features,
  entries: [Feature | undefined, string, fc.Arbitrary<unknown>][],
): fc.Arbitrary<Record<string, unknown>> {
  const known = entries.filter(([feature]) => feature === undefined || features.has(feature));
  const shape = Object.fromEntries(known.map(([, name, arbitrary]) => [name, arbitrary]));
  return fc.record(shape, { requiredKeys: [] });
}
