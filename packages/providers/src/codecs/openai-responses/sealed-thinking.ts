/**
 * What proves a thought to the provider that had it, on its way through a
 * caller who speaks another format. Both sides have one opaque text for it:
 * `encrypted_content` of a reasoning item here, the signature of a thinking
 * part in the chat model. Each is marked when it stands in for the other, so
 * that a provider is never shown what another one made, which it would refuse:
 *
 * - `sluice:signature:<signature>` in `encrypted_content`: a signature of
 *   another format, beside the text that it signs in the item's summary;
 * - `sluice:redacted:<data>` in `encrypted_content`: redacted thinking, which
 *   has no summary;
 * - `sluice:part:<signature>` in `encrypted_content`: the signature of the text,
 *   call or picture before the item, which has no summary;
 * - `openai:encrypted:<encrypted_content>` as a signature: this format's own.
 */
import type { JsonObject, RedactedThinkingPart, ThinkingPart } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { markProof, openProof } from '../proofs.ts';

const signatureMark = 'sluice:signature:';
const redacted = 'sluice:redacted:';
const partMark = 'sluice:part:';

/** Whether an `encrypted_content` was made here, of what another format's provider wrote. */
export function isSealed(encryptedContent: string): boolean {
  return encryptedContent.startsWith('sluice:');
}

/** The `encrypted_content` that tells a caller of a thought's proof. */
export function sealForCaller(part: ThinkingPart | RedactedThinkingPart): string | undefined {
  if (part.type === 'redacted-thinking') return redacted + part.data;
  const { signature } = part;
  if (signature === undefined) return undefined;
  return encryptedContentOf(signature) ?? signatureMark + signature;
}

/** The same of what follows the part that this signature proves. */
export function sealPart(signature: string): string {
  return partMark + signature;
}

/** Undefined where the item is a thought. */
export function partSignatureOf(item: JsonObject): string | undefined {
  const sealed = stringOf(item.encrypted_content);
  return sealed?.startsWith(partMark) ? sealed.slice(partMark.length) : undefined;
}

/**
 * The thought a caller sends back. `isForeign`: the item's `encrypted_content`
 * is some provider's own, which no other provider can read.
 */
export function openFromCaller(item: JsonObject): {
  part: ThinkingPart | RedactedThinkingPart;
  isForeign: boolean;
} {
  const sealed = stringOf(item.encrypted_content);
  const text = thoughtOf(item);
  if (sealed === undefined) return { part: { type: 'thinking', text }, isForeign: false };
  if (sealed.startsWith(redacted)) {
    const data = sealed.slice(redacted.length);
    return { part: { type: 'redacted-thinking', data }, isForeign: false };
  }
  if (sealed.startsWith(signatureMark)) {
    const signature = sealed.slice(signatureMark.length);
    return { part: { type: 'thinking', text, signature }, isForeign: false };
  }
  return { part: { type: 'thinking', text }, isForeign: true };
}

/** The signature that stands for a provider's `encrypted_content` in other formats. */
export function signatureOf(encryptedContent: string): string {
  return markProof('response', encryptedContent);
}

/** Undefined when the signature is not this format's. */
export function encryptedContentOf(signature: string): string | undefined {
  return openProof('response', signature);
}

/** What a reasoning item shows: its summary, or the thoughts themselves where a model tells them. */
export function thoughtOf(item: JsonObject): string {
  const shown = arrayOf(item.summary)?.length ? item.summary : item.content;
  const texts = (arrayOf(shown) ?? []).map((part) => stringOf(objectOf(part)?.text) ?? '');
  return texts.join(thoughtSeparator);
}

/** Between the parts of a summary, where they are told as one text. */
export const thoughtSeparator = '\n\n';
