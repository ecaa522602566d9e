import type { AddressAuthor } from '@sluice/outbound';
import {
  type CallContext,
  type FormPart,
  findTranslation,
  type JsonObject,
  type MemberEdits,
  pathOf,
  type Translation,
  withRequestHeaders,
} from '@sluice/providers';
import type { Dispatcher } from 'undici';
import type { PreparedRequest } from '../../exchange/prepared-call.ts';
import type { ModelRequester } from '../../exchange/requester.ts';
import { endpointOf } from '../../exchange/subject.ts';
import type { Target } from '../../exchange/target.ts';
import { replaceTopLevelString } from '../../http/edit-json.ts';
import { editMembers } from '../../http/edit-members.ts';
import { formFields, writeForm } from '../../http/form-fields.ts';
import { addressAuthor } from './address-author.ts';
import { checkedBase, unifiedPath } from './call-address.ts';
import { contextOf } from './call-context.ts';
import type { CallRules } from './call-rules.ts';
import { unifiedHeaders } from './request-headers.ts';
import { sentBody } from './sent-body.ts';

/** The call of a unified endpoint and where it goes; nothing is encoded yet. */
export function addressCall(
  requester: ModelRequester,
  target: Target,
  body: JsonObject,
  rules: CallRules,
): { translation: Translation; base: URL; addressBy: AddressAuthor; context: CallContext } {
  const context = contextOf(requester, target, body, rules);
  const translation = findTranslation(target.entry, endpointOf(requester.subject), context);
  const addressBy = addressAuthor(target);
  return {
    translation,
    base: checkedBase(target, translation.entry, context, rules.hostRules, addressBy),
    addressBy,
    context,
  };
}

/**
 * One call of a unified endpoint: address, headers, body. `shaped` is the body
 * after the config's parameters and transforming checks; undefined when none of
 * them changed it.
 * @throws GatewayError for hosts that may not be called and endpoints the provider lacks
 */
export function prepareUnified(
  requester: ModelRequester,
  target: Target,
  shaped: JsonObject | undefined,
  rules: CallRules,
): PreparedRequest {
  const json = shaped ?? requester.subject.json ?? {};
  const { translation, base, addressBy, context } = addressCall(requester, target, json, rules);
  const method = translation.entry.method ?? (requester.arrival.method as Dispatcher.HttpMethod);
  const { search } = requester.subject;
  const common = {
    translation,
    context,
    origin: base.origin,
    addressBy,
    method,
    path: unifiedPath(base, pathOf(translation.entry, context), target.entry, translation, {
      method,
      search,
    }),
    auth: translation.entry.auth ?? target.entry.auth,
  };
  const headers = unifiedHeaders(requester, target, translation.entry);
  if (requester.subject.body === undefined || requester.subject.json === undefined)
    return {
      ...common,
      headers,
      body: null,
      sentJson: {},
      droppedParams: [],
      hidesUsage: false,
    };
  const wanted = sentBody(requester, target, shaped);
  const withUsage = asksUsage(wanted, target, translation);
  const asked = withUsage ?? wanted;
  const encoded = translation.encode(asked, context);
  const edits = {
    target,
    shaped: shaped === undefined ? withUsage : asked,
    encoded: encoded.body,
    members: encoded.edits,
  };
  if (encoded.bytes !== undefined) headers['content-type'] = encoded.bytes.contentType;
  return {
    ...common,
    headers: withRequestHeaders(headers, encoded.headers),
    body:
      encoded.bytes?.data ??
      sentBytes(requester.subject.body, requester.subject.form, translation, edits, headers),
    // A dialect makes its reply of both, so that what it used up decides over the answer, too.
    sentJson: translation.entry.dialect === undefined ? (encoded.body ?? asked) : asked,
    droppedParams: encoded.dropped,
    hidesUsage: withUsage !== undefined,
  };
}

/** The body that asks a native stream for its usage; undefined where nobody wants that, or it is asked. */
function asksUsage(
  body: JsonObject,
  { planned }: Target,
  { mode, callerFormat }: Translation,
): JsonObject | undefined {
  if (planned.asksStreamUsage !== true || mode !== 'native' || body.stream !== true)
    return undefined;
  if (callerFormat !== 'openai-chat' && callerFormat !== 'openai-completions') return undefined;
  const options = body.stream_options;
  const known = typeof options === 'object' && !Array.isArray(options) ? options : null;
  if (known?.include_usage === true) return undefined;
  return { ...body, stream_options: { ...known, include_usage: true } };
}

/** What of the caller's body is to be different upstream. */
interface Edits {
  target: Target;
  /** After the config's parameters, with the model to ask for. */
  shaped: JsonObject | undefined;
  /** In the upstream's words. */
  encoded: JsonObject | undefined;
  /** Where only these of its members change. */
  members: MemberEdits | undefined;
}

/** The body as it is sent; a form stays one, unless the upstream's words are JSON. */
function sentBytes(
  received: Buffer,
  form: readonly FormPart[] | undefined,
  translation: Translation,
  edits: Edits,
  headers: Record<string, string | string[]>,
): Buffer {
  if (form === undefined) return bodyBytes(received, edits);
  if (translation.mode === 'translated' && edits.encoded !== undefined) {
    headers['content-type'] = 'application/json';
    return Buffer.from(JSON.stringify(edits.encoded));
  }
  return formBytes(received, form, edits, headers);
}

/** A form that nothing changed goes as it came; else its fields are written anew around the same files. */
function formBytes(
  received: Buffer,
  parts: readonly FormPart[],
  { target, shaped, encoded }: Edits,
  headers: Record<string, string | string[]>,
): Buffer {
  const changed = encoded ?? shaped;
  if (changed === undefined && !target.rewritesModel) return received;
  const form = writeForm(parts, changed ?? { ...formFields(parts), model: target.model });
  headers['content-type'] = form.contentType;
  return form.data;
}

/** The caller's bytes where nothing changed, a surgical edit where only the model's name did, else new JSON. */
function bodyBytes(received: Buffer, { target, shaped, encoded, members }: Edits): Buffer {
  const isEdited = members !== undefined && shaped === undefined;
  const rebuilt = isEdited ? undefined : (encoded ?? shaped);
  if (rebuilt !== undefined) return Buffer.from(JSON.stringify(rebuilt));
  const named = target.rewritesModel
    ? replaceTopLevelString(received, 'model', target.model)
    : received;
  return isEdited ? editMembers(named, members) : named;
}
